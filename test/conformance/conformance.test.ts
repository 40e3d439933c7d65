import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Json } from "./compare.ts";
import { isList, isObject, textOf } from "./compare.ts";
import type { Suite } from "./suites.ts";
import { judgeAnswer, judgeCase, readCases, SUITES } from "./suites.ts";
import type { Surroundings } from "./vector-case.ts";

const vectors = new URL("../../../shared/vectors/", import.meta.url).pathname;
const readJson = (path: string): Json => JSON.parse(readFileSync(vectors + path, "utf8"));

/** Of inputs on which the library stops there is no answer to compare with. */
const COMPARED = SUITES.filter(({ name }) => name !== "allocator/raises");

if (!existsSync(vectors)) console.warn(`NOT RUN: conformance, as there are no vectors in ${vectors}`);

describe.skipIf(!existsSync(vectors))("conformance (needs ../shared/vectors)", () => {
  const world = existsSync(vectors) ? readJson("constraints/world.json") : {};
  const surroundings: Surroundings = {
    vmSizes: existsSync(vectors) ? readJson("vm_sizes.json") : {},
    ...(isObject(world) ? { world } : {}),
  };

  test.each(SUITES.map((suite) => ({ name: suite.name, suite })))(
    "$name has no failures",
    ({ name, suite }) => {
      const cases = readCases(readJson(`${name}.json`));
      const failed = cases.filter((one) => judgeCase(suite, one, surroundings).kind === "failed");
      expect(failed.map((one) => one.name)).toEqual([]);
      expect(cases.length).toBeGreaterThan(3);
    },
  );

  test.each(COMPARED.map((suite) => ({ name: suite.name, suite })))(
    "$name: an answer altered in any one place fails",
    ({ name, suite }) => {
      const cases = readCases(readJson(`${name}.json`));
      const unnoticed = cases
        .filter((one) => judgeCase(suite, one, surroundings).kind === "passed")
        // Of an exception in judging a node no more than the refusal is compared: the test below.
        .filter(({ expected }) => !JSON.stringify(expected).includes('"space":{"raises"'))
        // Answers to the random ones have hundreds of places each.
        .slice(0, name.includes("/random_") ? 3 : 12)
        .flatMap((one) => {
          const verdicts = alterations(suite.answer(one, surroundings), suite).map((altered) =>
            judgeAnswer(suite, one, altered.value, surroundings),
          );
          return verdicts.every(({ kind }) => kind === "failed") ? [] : [one.name];
        });
      expect(unnoticed).toEqual([]);
    },
  );

  test("a node that the library cannot judge must be refused", () => {
    const suite = SUITES.find(({ name }) => name === "constraints/evaluate");
    const one = readCases(readJson("constraints/evaluate.json")).find(({ expected }) =>
      JSON.stringify(expected).includes('"space":{"raises"'),
    );
    if (suite === undefined || one === undefined) throw new Error("the vectors have such a case");
    const answer = suite.answer(one, surroundings);
    expect(judgeAnswer(suite, one, answer, surroundings).kind).toBe("passed");
    const altered: Json = JSON.parse(JSON.stringify(answer).replace('"satisfied":false', '"satisfied":true'));
    expect(judgeAnswer(suite, one, altered, surroundings).kind).toBe("failed");
  });
});

/** The answer with one leaf changed, for each of its leaves; a refusal is changed into an answer. */
function alterations(answer: Json, suite: Suite): readonly { readonly value: Json }[] {
  if (isObject(answer) && "raises" in answer)
    return [{ value: { accepted: true, buckets: {}, tree: [], text: suite.name } }];
  if (isList(answer))
    return [
      { value: [...answer, "one more"] },
      ...answer.flatMap((item, at) =>
        alterations(item, suite).map(({ value }) => ({ value: answer.with(at, value) })),
      ),
    ];
  if (isObject(answer))
    return [
      { value: { ...answer, "one more": 1 } },
      ...Object.entries(answer).flatMap(([key, member]) =>
        alterations(member, suite).map(({ value }) => ({ value: { ...answer, [key]: value } })),
      ),
    ];
  return [{ value: altered(answer) }];
}

function altered(leaf: Json): Json {
  if (typeof leaf === "number") return leaf === 0 ? 1 : leaf * 1.001 + 1;
  if (typeof leaf === "boolean") return !leaf;
  const size = typeof leaf === "string" ? /^((?:memory|size)::)(.*)([a-zA-Z])$/.exec(leaf) : null;
  return size === null ? `${textOf(leaf)} and more` : `${size[1]}${Number(size[2]) * 1.001 + 1}${size[3]}`;
}
