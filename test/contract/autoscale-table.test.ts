import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DATA, readText } from "../support/data.ts";
import { readContract } from "../scenarios/autoscale-case.ts";

const ROOT = new URL("../../", import.meta.url);
/** How many statements the tables C.2 (what calls mean) and C.3 (attributes) of the contract have. */
const STATEMENTS = { "C.2": 21, "C.3": 26 };

interface Row {
  readonly key: string;
  readonly says: string;
  readonly proof: string;
}

/** A test that is said to prove something: its file, or "contract", and its title. */
interface Proof {
  readonly file: string;
  readonly title: string;
}

const rows = readTable(readFileSync(new URL("autoscale-contract.md", import.meta.url), "utf8"));

function readTable(text: string): readonly Row[] {
  return text.split("\n").flatMap((line) => {
    const [, key, says, proof] = /^\| (C\.\S+) \| (.+) \| (.+) \|$/.exec(line) ?? [];
    return key === undefined || says === undefined || proof === undefined ? [] : [{ key, says, proof }];
  });
}

function proofsOf({ proof }: Row): readonly Proof[] {
  return [...proof.matchAll(/`([^`]+)` "([^"]+)"/g)].map(([, file = "", title = ""]) => ({ file, title }));
}

/** Whether a test file has a test of that title: its own, or one of its table's rows. */
function hasTest({ file, title }: Proof): boolean {
  const url = new URL(file, ROOT);
  return existsSync(url) && readFileSync(url, "utf8").includes(`"${title}"`);
}

describe("the table of the autoscale contract", () => {
  test.each(rows)("$key is proven by tests that exist, or says why it is not ours", (row) => {
    const proofs = proofsOf(row);
    if (proofs.length === 0) expect(row.proof).toMatch(/^not ours: .+/);
    const inFiles = proofs.filter(({ file }) => file !== "contract");
    expect(inFiles.filter((proof) => !hasTest(proof))).toEqual([]);
    // Nothing else stands there: what is not read as a proof would prove nothing.
    const read = proofs.map(({ file, title }) => `\`${file}\` "${title}"`).join("; ");
    if (proofs.length > 0) expect(read).toBe(row.proof);
  });

  test("a title that no test has is found", () => {
    const file = "test/contract/store-memory.test.ts";
    expect(hasTest({ file, title: "proves everything" })).toBe(false);
    expect(hasTest({ file: "test/contract/none.test.ts", title: "proves everything" })).toBe(false);
  });

  test("each row stands once", () => {
    const keys = rows.map(({ key }) => key);
    expect(keys).toEqual([...new Set(keys)]);
  });

  test("names every case of the documentation, and no other", () => {
    const named = rows.flatMap(proofsOf).filter(({ file }) => file === "contract");
    const cases = readContract(readText(`${DATA}autoscale-contract.json`)).cases.map(({ name }) => name);
    expect([...new Set(named.map(({ title }) => title))].sort()).toEqual(cases.toSorted());
  });

  test("has every statement, in order", () => {
    const numbered = Object.entries(STATEMENTS).flatMap(([part, length]) =>
      Array.from({ length }, (_, i) => `${part}.${i + 1}`),
    );
    const found = new Set(rows.map(({ key }) => key.replace(/[a-z]$/, "")));
    expect([...found]).toEqual(["C.1", ...numbered]);
  });
});
