import { expect, test } from "vitest";
import { stagedServer } from "../support/staged-server.ts";
import type { Files } from "./run-command.ts";
import { runCommand } from "./run-command.ts";

/** Files that a command reads by itself: constraints that are checked without the app, and pools whose numbers stand in a file. */

const validate = (file: unknown, ...more: readonly string[]) =>
  runCommand(["validate", "constraint", "c.json", ...more], { "c.json": file });

test("validate constraint prints what the app understands, without the app", async () => {
  expect(await validate({ ncpus: 2, mem: "memory::4g", "node.vm_size": ["F4", "F8*"] })).toEqual({
    code: 0,
    out: 'c.json is valid:\n  {"ncpus":2,"mem":"memory::4g","node.vm_size":["F4","F8*"]}',
    err: "",
  });
  expect(JSON.parse((await validate([{ exclusive: "true" }], "--json")).out)).toEqual([{ exclusive: true }]);
  expect((await validate([])).out).toBe("c.json is valid: no constraint, so one slot goes on any node");
});

test.each([
  { name: "an unknown property", file: { "node.vmsize": "F4" }, err: /node\.vm_size/ },
  { name: "a text where an amount is meant", file: { mem: "4GB" }, err: /memory::4g/ },
  { name: "a list in a list", file: [[{ ncpus: 1 }]], err: /\[0\].*an object/ },
  { name: "no JSON", file: "{", err: /not JSON/ },
])("validate constraint says what is wrong: $name", async ({ file, err }) => {
  const ended = await validate(file);
  expect([ended.code, ended.out]).toEqual([2, ""]);
  expect(ended.err).toMatch(err);
});

async function pushed(pools: readonly object[], files: Files, command = "push") {
  const asked: unknown[] = [];
  const { url } = await stagedServer((_request, _before, body) => {
    asked.push(JSON.parse(body));
    return {
      status: 202,
      body: { cluster: "prod", changed: true, asks: { nodearrays: 0, jobs: 0, slots: 0 } },
    };
  });
  const words = command === "push" ? ["push", "m.json"] : ["plan", "--file", "m.json"];
  const end = await runCommand([...words, "--url", url, "--key", "k", "-c", "prod"], {
    "m.json": { pools },
    ...files,
  });
  return { ...end, asked };
}

test("a pool with a source has what that file says of it, and nothing else of the file is sent", async () => {
  const pools = [
    { name: "licences", source: "limits.json" },
    { name: "seats", source: "seats.json", used: 3 },
    { name: "shift", source: "shift.json" },
    { name: "plain", total: 2, used: 1 },
  ];
  const files = {
    "limits.json": { total: 40, used: 12, secret: "x" },
    "seats.json": "1000",
    "shift.json": '"night"',
  };
  const { code, asked } = await pushed(pools, files);
  expect(code).toBe(0);
  expect(asked).toMatchObject([
    {
      pools: [
        { name: "licences", total: 40, used: 12 },
        { name: "seats", total: 1000, used: 3 },
        { name: "shift", value: "night" },
        { name: "plain", total: 2, used: 1 },
      ],
    },
  ]);
  expect(JSON.stringify(asked)).not.toContain("secret");
});

test.each([
  { name: "no such file", files: {}, err: "limits.json: found no such file, expected a readable file" },
  {
    name: "a file of something else",
    files: { "limits.json": { password: "x" } },
    err: "limits.json: found something else, expected JSON: a number, a short text, or an object with total and used, or value",
  },
])("nothing is sent: $name", async ({ files, err }) => {
  const ended = await pushed([{ name: "licences", source: "limits.json" }], files);
  expect(ended).toMatchObject({ code: 2, out: "", err, asked: [] });
});
