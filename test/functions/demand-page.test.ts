import { afterAll, beforeAll, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { ROOT } from "../support/run-main.ts";
import { runCommand } from "../cli/run-command.ts";

/** The first messages of docs/demand.md, sent as they are printed: each answer is the one on the page. */

let app: LocalApp;
beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod"], speed: 1 });
});
afterAll(() => app.close());

const [beginning = ""] = readFileSync(`${ROOT}/docs/demand.md`, "utf8").split("\n## ");
/** Each file with its text, the command that sends it and the answer. */
const examples = [
  ...beginning.matchAll(
    /`(\w+\.json)`[^\n]*\n(?:\S[^\n]*\n)*\n((?: {4}.*\n)+)\n```console\n\$ cyclecloud-autoscaler (.*)\n(.*)\n```/g,
  ),
].map(([, file = "", text = "", command = "", answer = ""]) => ({ file, text, command, answer }));

const timeless = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");

test("the page begins with a target, a job and an array, within 40 lines", () => {
  expect(examples.map(({ file }) => file)).toEqual(["target.json", "job.json", "array.json"]);
  expect(beginning.split("\n").length).toBeLessThanOrEqual(40);
});

test.each(examples)("$command", async ({ file, text, command, answer }) => {
  const reach = ["--cluster", "prod", "--url", app.host.url, "--key", app.host.keys.host];
  const { code, out, err } = await runCommand([...command.split(" "), ...reach], { [file]: text });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(timeless(out)).toBe(timeless(answer));
});
