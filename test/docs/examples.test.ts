import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { validateConfig } from "../../src/client/index.ts";
import { clusterName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { MessageRead } from "../../src/wire/message/message-read.ts";
import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import { readPatch } from "../../src/wire/policy/config-patch.ts";
import { readWhatIf } from "../../src/wire/what-if.ts";
import { ROOT } from "../support/run-main.ts";
import { CONTEXT, NOW, readMembers } from "../wire/context.ts";

/** Each JSON example on a page is accepted by its reader without any problem. */

const pages = ["README.md", ...readdirSync(`${ROOT}/docs`).map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith(".md"),
);
/** The indented blocks of a page that are a JSON object or members of one, and JSON objects between backticks. */
function blocksOf(path: string): readonly string[] {
  const page = readFileSync(`${ROOT}/${path}`, "utf8");
  const blocks = [...page.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block);
  const objects = blocks.filter((block) => /^ {4}\{/.test(block));
  const members = blocks.filter((block) => /^ {4}"[^"]+":/.test(block)).map((block) => `{ ${block} }`);
  const inline = ["docs/demand.md", "docs/observe.md"].includes(path)
    ? [...page.matchAll(/`(\{ ?"[^`]*\})`/g)].map(([, text = ""]) => text)
    : [];
  return [...objects, ...members, ...inline];
}
const examples = pages.flatMap((path) => blocksOf(path).map((text) => ({ path, text })));

type Kind = "message" | "members" | "job" | "constraint" | "dry run" | "patch" | "configuration" | "other";

/** The kind of an example. The page says it in prose, and the keys of the example show it. */
function kindOf(path: string, text: string): Kind {
  if (text.includes('"version": 1')) return "message";
  if (text.includes("json.schemas")) return "other";
  if (path === "docs/http.md") return text.includes('"unset"') ? "patch" : "dry run";
  if (path !== "docs/demand.md" || text.includes('"senders"')) return "configuration";
  if (text.includes('"schedulerNodes"')) return "members";
  return /^\s*\{ ?"name"/.test(text) ? "job" : "constraint";
}

/** The problems and rejected jobs of a message. */
function problemsOfMessage(read: MessageRead): unknown {
  return read.kind === "update" ? (read.update.demand?.rejectedJobs ?? []) : read;
}

/** The problems that the reader finds: none are expected. */
function problemsOf(path: string, text: string): unknown {
  switch (kindOf(path, text)) {
    case "message":
      return problemsOfMessage(readDemandMessage(text, CONTEXT));
    case "members":
      return problemsOfMessage(readMembers(JSON.parse(text)));
    case "job":
      return problemsOfMessage(readMembers({ jobs: [JSON.parse(text)] }));
    case "constraint":
      return problemsOfMessage(readMembers({ jobs: [{ name: "j", constraints: [JSON.parse(text)] }] }));
    case "dry run": {
      const context = { cluster: clusterName("prod"), policy: DEFAULT_POLICY, now: NOW };
      const read = readWhatIf(new TextEncoder().encode(text), context);
      return read.kind === "what-if" ? read.rejectedJobs : read;
    }
    case "patch": {
      const read = readPatch(text);
      return read.kind === "patch" ? [] : read;
    }
    case "configuration": {
      const read = validateConfig(text);
      if (read.kind !== "valid") return read;
      // This key is only for editors, as the page says.
      return [...read.ignored.filter(({ key }) => key !== "$schema"), ...read.doubts];
    }
    case "other":
      JSON.parse(text);
      return [];
  }
}

test("the pages have examples of each kind", () => {
  const kinds = new Set(examples.map(({ path, text }) => kindOf(path, text)));
  expect([...kinds].toSorted()).toEqual([
    "configuration",
    "constraint",
    "dry run",
    "job",
    "members",
    "message",
    "other",
    "patch",
  ]);
  expect(examples.length).toBeGreaterThan(18);
});

describe("each example is read without a problem", () => {
  test.each(examples.map((example, index) => ({ ...example, name: `${index + 1}, ${example.path}` })))(
    "$name",
    ({ path, text }) => {
      expect(problemsOf(path, text)).toEqual([]);
    },
  );
});
