import { expect, test } from "vitest";
import { NODE_TOKEN_HEADER, readNodeToken } from "../../src/wire/message/node-token.ts";
import { setStage } from "./pbs-stage.ts";

const PAGE = "docs/pbs.md";
const tokenOf = ({ headers }: Awaited<ReturnType<typeof setStage>>["seen"][number]): string =>
  String(headers[NODE_TOKEN_HEADER]);

test("bind.sh asks until the app knows the node, with a token that the app takes; autostop.sh sends the same token", async () => {
  const stage = await setStage(PAGE);
  stage.answer(
    { status: 503, body: '{"stop":false,"undrain":false}' },
    { status: 404, body: '{"stop":false,"undrain":true}' },
    { status: 503, body: '{"stop":false,"undrain":true}' },
    { status: 200, body: '{"stop":true}' },
  );
  expect((await stage.run("bind.sh")).code).toBe(0);
  expect(stage.seen.map(({ url }) => url)).toEqual([
    "/autostop?instance=vm-1&begin=no",
    "/autostop?instance=vm-1&begin=no",
    "/autostop?instance=vm-1&begin=no",
  ]);
  const tokens = stage.seen.map(tokenOf);
  expect(new Set(tokens).size).toBe(1);
  expect(readNodeToken(tokens[0])).toHaveProperty("token");

  await stage.run("autostop.sh");
  stage.pass(300);
  await stage.run("autostop.sh");
  expect(stage.seen).toHaveLength(4);
  expect(stage.seen.map(tokenOf)[3]).toBe(tokens[0]);
});

test("bind.sh after a reboot: the same token", async () => {
  const stage = await setStage(PAGE);
  stage.answer({ status: 409, body: '{"stop":false,"undrain":true}' });
  await stage.run("bind.sh");
  await stage.run("bind.sh");
  const [first, second] = stage.seen.map(tokenOf);
  expect(second).toBe(first);
});

test("bind.sh where somebody else was first: it says so and ends", async () => {
  const stage = await setStage(PAGE);
  stage.answer({ status: 403, body: '{"stop":false,"undrain":true}' });
  const { code, stderr } = await stage.run("bind.sh");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "bind: another token is known for vm-1\n" });
});

test("without bind.sh no token is sent", async () => {
  const stage = await setStage(PAGE);
  await stage.run("autostop.sh");
  stage.pass(300);
  await stage.run("autostop.sh");
  expect(stage.seen.map(({ headers }) => headers[NODE_TOKEN_HEADER])).toEqual([undefined]);
});
