import { expect, test } from "vitest";
import { runCommand } from "./run-command.ts";

const set = (name: string, key: string) =>
  `az functionapp function keys set --resource-group rg --name app --function-name ${name} --key-name ${key} --key-value "$KEY" --output none`;

test("keys sender: one value, on the function that writes request sets alone", async () => {
  const { code, out, err } = await runCommand([
    "keys",
    "sender",
    "--app",
    "app",
    "-g",
    "rg",
    "--key-name",
    "pbs",
  ]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.split("\n")).toEqual([
    'KEY="$(openssl rand -hex 32)"',
    set("write-request-set", "pbs"),
    'echo "AUTOSCALER_KEY=$KEY"',
  ]);
});

test("keys reader: every function that reads", async () => {
  const { out } = await runCommand(["keys", "reader", "--app", "app", "-g", "rg"]);
  const names = [
    "clusters",
    "cluster",
    "request-set",
    "explain",
    "history",
    "node-history",
    "comparison",
    "config",
    "config-history",
    "plan",
    "openapi",
  ];
  expect(out.split("\n").slice(1, -1)).toEqual(names.map((name) => set(name, "reader")));
});

test("keys for several roles name each function once; an operator's are all", async () => {
  const both = await runCommand(["keys", "sender", "reader", "--app", "app", "-g", "rg"]);
  expect(both.out.split("\n")).toHaveLength(2 + 1 + 11);
  const all = await runCommand(["keys", "reader", "operator", "--app", "app", "-g", "rg"]);
  expect(all.out.split("\n")).toHaveLength(2 + 19);
});

test("keys --powershell: the same calls, without openssl and with PowerShell's quotes", async () => {
  const { out } = await runCommand(["keys", "sender", "--app", "it's", "-g", "rg", "--powershell"]);
  expect(out.split("\n")).toEqual([
    '$BYTES = New-Object byte[] 32; [Security.Cryptography.RandomNumberGenerator]::Create().GetBytes($BYTES); $KEY = [BitConverter]::ToString($BYTES) -replace "-"',
    `az functionapp function keys set --resource-group rg --name 'it''s' --function-name write-request-set --key-name sender --key-value "$KEY" --output none`,
    '"AUTOSCALER_KEY=$KEY"',
  ]);
});

test("keys: names are quoted for the shell, and an unknown role is refused", async () => {
  const { out } = await runCommand(["keys", "sender", "--app", "it's; rm -rf /", "-g", "my group"]);
  expect(out.split("\n")[1]).toContain(String.raw`--resource-group 'my group' --name 'it'\''s; rm -rf /'`);
  const wrong = await runCommand(["keys", "root", "--app", "app", "-g", "rg"]);
  expect(wrong.code).toBe(2);
});
