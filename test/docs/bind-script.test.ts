import { expect, test } from "vitest";
import { NODE_TOKEN_HEADER, readNodeToken } from "../../src/wire/message/node-token.ts";
import { setStage } from "./pbs-stage.ts";

const PAGE = "docs/pbs.md";
const tokenOf = ({ headers }: Awaited<ReturnType<typeof setStage>>["seen"][number]): string =>
  String(headers[NODE_TOKEN_HEADER]);

const SCRIPTS: readonly { readonly bind: readonly [string, ...string[]]; readonly autostop: string }[] = [
  { bind: ["bind.sh"], autostop: "autostop.sh" },
  { bind: ["cyclecloud_autostop.py", "--bind"], autostop: "cyclecloud_autostop.py" },
];

test.each(SCRIPTS)(
  "asks until the app knows the node, with a token that the app takes; the stop script sends the same token: %o",
  async ({ bind, autostop }) => {
    const stage = await setStage(PAGE);
    stage.answer(
      { status: 503, body: '{"stop":false,"undrain":false}' },
      { status: 404, body: '{"stop":false,"undrain":true}' },
      { status: 503, body: '{"stop":false,"undrain":true}' },
      { status: 200, body: '{"stop":true}' },
    );
    expect((await stage.run(...bind)).code).toBe(0);
    expect(stage.seen.map(({ url }) => url)).toEqual([
      "/autostop?instance=vm-1&begin=no",
      "/autostop?instance=vm-1&begin=no",
      "/autostop?instance=vm-1&begin=no",
    ]);
    const tokens = stage.seen.map(tokenOf);
    expect(new Set(tokens).size).toBe(1);
    expect(readNodeToken(tokens[0])).toHaveProperty("token");

    await stage.run(autostop);
    stage.pass(300);
    await stage.run(autostop);
    expect(stage.seen).toHaveLength(4);
    expect(stage.seen.map(tokenOf)[3]).toBe(tokens[0]);
  },
);

test.each(SCRIPTS)("after a reboot: the same token: $autostop", async ({ bind }) => {
  const stage = await setStage(PAGE);
  stage.answer({ status: 409, body: '{"stop":false,"undrain":true}' });
  await stage.run(...bind);
  await stage.run(...bind);
  const [first, second] = stage.seen.map(tokenOf);
  expect(second).toBe(first);
});

test.each(SCRIPTS)("where somebody else was first: it says so and ends: $autostop", async ({ bind }) => {
  const stage = await setStage(PAGE);
  stage.answer({ status: 403, body: '{"stop":false,"undrain":true}' });
  const { code, stderr } = await stage.run(...bind);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "bind: another token is known for vm-1\n" });
});

test("without bind.sh no token is sent", async () => {
  const stage = await setStage(PAGE);
  await stage.run("autostop.sh");
  stage.pass(300);
  await stage.run("autostop.sh");
  expect(stage.seen.map(({ headers }) => headers[NODE_TOKEN_HEADER])).toEqual([undefined]);
});
