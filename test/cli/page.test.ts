import { expect, test } from "vitest";
import { runCommand } from "./run-command.ts";

test.each([
  { words: ["--url", "https://a.example"], said: "https://a.example/api/page" },
  { words: ["--url", "https://a.example/", "-c", "prod"], said: "https://a.example/api/page#/prod/now" },
  {
    words: ["--url", "https://a.example", "-c", "my cluster"],
    said: "https://a.example/api/page#/my%20cluster/now",
  },
])("page prints the address: $said", async ({ words, said }) => {
  expect(await runCommand(["page", ...words])).toMatchObject({ code: 0, out: said });
});

test("page takes no key, so it prints none", async () => {
  const { code, out, err } = await runCommand([
    "page",
    "--url",
    "https://a.example",
    "--key",
    "secret-of-mine",
  ]);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain("unknown option '--key'");
  expect(err).not.toContain("secret-of-mine");
});
