import { describe, expect, test } from "vitest";
import { Bench } from "./fixture.ts";

describe("credentials", () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
  const ask = (bench: Bench, text: string, method = "GET"): number =>
    bench.simulator.request({ method, path: "/clusters/demo/status", query: {}, authorization: basic(text) })
      .status;
  const guarded = (role: "admin" | "reader" | "none" = "admin"): Bench => {
    const bench = new Bench();
    bench.simulator.requireCredentials({ username: "user", password: "pass:word", role });
    return bench;
  };

  test.each([
    { name: "the right ones", text: "user:pass:word", status: 200 },
    { name: "a wrong password", text: "user:wrong", status: 401 },
    { name: "a wrong user", text: "root:pass:word", status: 401 },
    { name: "no colon", text: "user", status: 401 },
  ])("$name", ({ text, status }) => {
    expect(ask(guarded(), text)).toBe(status);
  });

  test("none at all: 401 with a page", () => {
    const response = guarded().get("/clusters/demo/status");
    expect(response).toMatchObject({ status: 401, body: "<html>Unauthorized</html>" });
  });

  test("5 failures within 60 s lock the account for 5 minutes, also for the right password", () => {
    const bench = guarded();
    for (let failure = 0; failure < 5; failure++) ask(bench, "user:wrong");
    expect(ask(bench, "user:pass:word")).toBe(401);
    bench.pass(299);
    expect(ask(bench, "user:pass:word")).toBe(401);
    bench.pass(1);
    expect(ask(bench, "user:pass:word")).toBe(200);
  });

  test("5 failures spread over more than 60 s lock nothing", () => {
    const bench = guarded();
    for (let failure = 0; failure < 5; failure++) {
      ask(bench, "user:wrong");
      bench.pass(16);
    }
    expect(ask(bench, "user:pass:word")).toBe(200);
  });

  test.each([
    { role: "reader" as const, get: 200, post: 403 },
    { role: "none" as const, get: 403, post: 403 },
  ])("a user with the role $role", ({ role, get, post }) => {
    const bench = guarded(role);
    expect(ask(bench, "user:pass:word")).toBe(get);
    expect(ask(bench, "user:pass:word", "POST")).toBe(post);
  });
});
