import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { callerOf } from "../../functions/caller.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";

/** Who a change of the configuration is recorded as. */

const PATH = "/api/clusters/demo/config";
const NAME = "x-ms-client-principal-name";

let app: LocalApp;
beforeAll(async () => {
  app = await startLocalApp({ clusters: ["demo"], speed: 60, settings: { WEBSITE_AUTH_ENABLED: "True" } });
});
afterAll(() => app.close());

const history = z.object({ changes: z.array(z.object({ who: z.string() })) });

test("with App Service authentication, a change and a rollback have the caller's name; without the header it is unknown", async () => {
  const send = async (method: string, path: string, name: string | undefined, body?: object) => {
    const response = await fetch(`${app.host.url}${path}`, {
      method,
      headers: { "x-functions-key": app.host.keys.host, ...(name === undefined ? {} : { [NAME]: name }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
  };
  await send("PUT", PATH, undefined, { idleTimeout: 100 });
  await send("PUT", PATH, "ada@example.org", { idleTimeout: 200 });
  await send("PUT", PATH, undefined, { idleTimeout: 300 });
  await send("POST", `${PATH}/rollback`, "ada@example.org");
  const { changes } = history.parse((await app.call("GET", `${PATH}/history`)).body);
  expect(changes.map(({ who }) => who)).toEqual(["ada@example.org", "unknown", "ada@example.org", "unknown"]);
});

test("the first change is shown against the defaults, and the comparison lists what is observed", async () => {
  const changes = z.object({ changes: z.array(z.object({ differences: z.array(z.unknown()) })) });
  const told = changes.parse((await app.call("GET", `${PATH}/history`)).body).changes.at(-1);
  expect(told?.differences).toEqual([{ path: "idleTimeout", before: "300", after: "100" }]);
  await app.call("PUT", PATH, { mode: "observe" });
  const { body } = await app.call("GET", "/api/clusters/demo/comparison");
  expect(body).toMatchObject({ observing: expect.any(Array) });
});

describe("the name that the platform gives", () => {
  const from = (name: string, platformSignsIn = true) =>
    callerOf(new Headers({ [NAME]: name }), platformSignsIn);

  test("without App Service authentication nobody removes a sender's own header, so it is not believed", () => {
    expect(from("ada@example.org", false)).toBeUndefined();
  });

  test.each([
    { name: "  ada@example.org ", who: "ada@example.org" },
    { name: "ada\tlovelace", who: "adalovelace" },
    { name: "a\u0085\u00adda", who: "ada" },
    { name: "   ", who: undefined },
    { name: "x".repeat(200), who: "x".repeat(128) },
  ])("$name: printable characters, at most 128", ({ name, who }) => {
    expect(from(name)).toBe(who);
  });
});
