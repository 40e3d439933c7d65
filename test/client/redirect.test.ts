import { expect, test, vi } from "vitest";
import { askToStop, AutoscalerError, openApi, putDemand } from "../../src/client/index.ts";
import { warnOfPlainHttp } from "../../src/client/plain-http.ts";
import { answeringServer } from "../support/answering-server.ts";
import { runCommand } from "../cli/run-command.ts";

/** A key goes to the address that it was given for, and nowhere else. */

test.each([301, 302, 303, 307, 308])(
  "HTTP %i is not followed: the other host gets nothing",
  async (status) => {
    const other = await answeringServer(200, "{}");
    const app = await answeringServer(status, "", { location: `${other.url}/api/clusters/prod` });
    const api = openApi({ url: app.url, key: "CANARY-KEY" }, { throws: false });
    const message = `HTTP ${status}: ${app.url} redirects to ${other.url}. The redirect is not followed, because the key would be sent along. Is this the address of the function app?`;
    expect(await api.state("prod")).toEqual({ kind: "redirected", status, message });
    expect(
      await putDemand({ url: app.url, key: "CANARY-KEY" }, { version: 1, cluster: "prod", jobs: [] }, 1),
    ).toEqual({ kind: "redirected", status, message });
    expect(other.seen).toEqual([]);
    expect(app.seen).toHaveLength(2);
  },
);

test("a redirect is thrown as an error that names where it wanted to go", async () => {
  const app = await answeringServer(307, "", { location: "https://evil.example/take?it=all" });
  const api = openApi({ url: app.url, key: "k" });
  await expect(api.clusters()).rejects.toThrow(AutoscalerError);
  await expect(api.clusters()).rejects.toThrow("redirects to https://evil.example. ");
});

test("a stop URL is not followed either, and its token is not repeated", async () => {
  const app = await answeringServer(302, "", { location: "/login?from=/api/autostop/prod/k.token" });
  const answer = await askToStop(`${app.url}/api/autostop/prod/k.token`, "vm");
  expect(answer).toMatchObject({ kind: "redirected", status: 302 });
  expect(JSON.stringify(answer)).not.toContain("token");
});

test("the command line says it and ends with 1", async () => {
  const app = await answeringServer(308, "", { location: "https://evil.example/" });
  const { code, out, err } = await runCommand(["nodes", "-c", "prod", "--url", app.url, "--key", "k"]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("redirects to https://evil.example. The redirect is not followed");
});

test.each([
  { address: "http://app-one.example/x", warned: true },
  { address: "http://10.1.2.3:7071", warned: true },
  { address: "http://127.example:7071", warned: true },
  { address: "https://app.example", warned: false },
  { address: "http://localhost:7071", warned: false },
  { address: "http://127.0.0.1:7071", warned: false },
  { address: "http://[::1]:7071", warned: false },
  { address: "no address", warned: false },
])("plain http to $address is warned of: $warned, and once", ({ address, warned }) => {
  const said: string[] = [];
  warnOfPlainHttp(address, (message) => said.push(message));
  warnOfPlainHttp(address, (message) => said.push(message));
  expect(said).toHaveLength(warned ? 1 : 0);
});

test("the library warns as Node's programs do, the command line on standard error", async () => {
  const emitted = vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
  const api = openApi({ url: "http://app-two.invalid", key: "k", waitSeconds: 1 }, { throws: false });
  await api.clusters();
  await api.clusters();
  expect(emitted.mock.calls).toEqual([
    [expect.stringContaining("http://app-two.invalid is plain http"), "AutoscalerWarning"],
  ]);
  emitted.mockClear();
  const words = ["nodes", "-c", "prod", "--url", "http://app-three.invalid", "--key", "k"];
  expect((await runCommand(words)).err).toContain("warning: http://app-three.invalid is plain http");
  expect(emitted).not.toHaveBeenCalled();
  emitted.mockRestore();
});
