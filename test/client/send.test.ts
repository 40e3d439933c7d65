import { expect, test } from "vitest";
import { AutoscalerError, sendDemand } from "../../src/client/index.ts";
import { answeringServer } from "../support/answering-server.ts";

const MESSAGE = { version: 1, cluster: "prod", jobs: [{ name: "a" }] } as const;
const PROBLEM = { type: "about:blank", title: "Older revision", status: 409, detail: "a newer one is held" };

test("sendDemand: accepted over HTTP", async () => {
  const { url } = await answeringServer(202, '{"requestSet":"standard","changed":true,"rejectedJobs":[]}');
  const sent = await sendDemand({ api: { url, key: "k" } }, MESSAGE);
  expect(sent).toMatchObject({ kind: "answered", body: { requestSet: "standard", changed: true } });
});

test("sendDemand: a refusal is an error with the app's problem", async () => {
  const { url } = await answeringServer(409, JSON.stringify(PROBLEM));
  const sending = sendDemand({ api: { url, key: "k" } }, MESSAGE);
  await expect(sending).rejects.toBeInstanceOf(AutoscalerError);
  await expect(sending).rejects.toMatchObject({
    message: "409 Older revision: a newer one is held",
    status: 409,
    problem: PROBLEM,
  });
});

test("sendDemand: with throws false a refusal is an answer", async () => {
  const { url } = await answeringServer(409, JSON.stringify(PROBLEM));
  expect(await sendDemand({ api: { url, key: "k" } }, MESSAGE, { throws: false })).toEqual({
    kind: "refused",
    status: 409,
    problem: PROBLEM,
    body: PROBLEM,
    role: "sender",
  });
});

test.each([
  {
    name: "no way to send",
    doors: {},
    message: MESSAGE,
    expected: "neither an address nor a queue to send to",
  },
  {
    name: "no answer",
    doors: { api: { url: "http://127.0.0.1:2", key: "k" } },
    message: MESSAGE,
    expected: "no answer from http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2",
  },
  {
    name: "a message for the queue that the app could not read",
    doors: { queue: "UseDevelopmentStorage=true" },
    message: { ...MESSAGE, jobs: undefined, nodearrays: [{ Name: "execute", TargetCount: "lots" }] },
    expected: "nodearrays[0].TargetCount: found text of 4 characters, expected a whole number, 0 or more",
  },
])("sendDemand fails loudly: $name", async ({ doors, message, expected }) => {
  await expect(sendDemand(doors, message)).rejects.toThrow(expected);
});
