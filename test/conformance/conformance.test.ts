import { describe, expect, test } from "vitest";
import { IS_DEEP, TIMEOUT } from "../property/runs.ts";
import { DATA, readText } from "../support/data.ts";
import type { Json } from "./compare.ts";
import { isList, isObject, textOf } from "./compare.ts";
import type { Suite } from "./suites.ts";
import { judgeAnswer, judgeCase, readCases, SUITES } from "./suites.ts";
import type { Surroundings, VectorCase } from "./vector-case.ts";

const readJson = (path: string): Json => JSON.parse(readText(`${DATA}vectors/${path}.gz`));

/** In how many cases of a file every place is altered. Answers to the random ones have hundreds each. `npm run test:deep` takes more. */
const ALTERED = IS_DEEP ? { random: 12, others: 60 } : { random: 1, others: 2 };

/** Of inputs on which the library stops there is no answer to compare with. */
const COMPARED = SUITES.filter(({ name }) => name !== "allocator/raises");

/** That no recorded case fails is the test of the command (command.test.ts). */
describe("conformance", () => {
  const world = readJson("constraints/world.json");
  const surroundings: Surroundings = {
    vmSizes: readJson("vm_sizes.json"),
    ...(isObject(world) ? { world } : {}),
  };

  test.each(COMPARED.map((suite) => ({ name: suite.name, suite })))(
    "$name: an answer altered in any one place fails",
    ({ name, suite }) => {
      const most = name.includes("/random_") ? ALTERED.random : ALTERED.others;
      const chosen: VectorCase[] = [];
      for (const one of readCases(readJson(`${name}.json`))) {
        if (chosen.length === most) break;
        // Of an exception in judging a node no more than the refusal is compared: the test below.
        if (JSON.stringify(one.expected).includes('"space":{"raises"')) continue;
        if (judgeCase(suite, one, surroundings).kind === "passed") chosen.push(one);
      }
      const unnoticed = chosen.flatMap((one) => {
        const verdicts = alterations(suite.answer(one, surroundings), suite).map((altered) =>
          judgeAnswer(suite, one, altered.value, surroundings),
        );
        return verdicts.every(({ kind }) => kind === "failed") ? [] : [one.name];
      });
      expect(unnoticed).toEqual([]);
    },
    TIMEOUT,
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
