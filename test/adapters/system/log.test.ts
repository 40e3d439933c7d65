import { expect, test } from "vitest";
import { jsonLog } from "../../../src/adapters/system/log.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";

function logged(event: string, fields: Readonly<Record<string, unknown>>): string {
  const lines: string[] = [];
  jsonLog((line) => lines.push(line))(event, fields);
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
}

test.each([
  { name: "an event alone", fields: {}, line: '{"event":"tick"}' },
  {
    name: "fields in their order",
    fields: { cluster: "demo", added: 3, message: "two\nlines" },
    line: '{"event":"tick","cluster":"demo","added":3,"message":"two\\nlines"}',
  },
  {
    name: "secrets by the name of the field, however deep and however written",
    fields: {
      site: { user: "ops", Password: "p", "account-key": "k", access_token: "t" },
      token: ["a", "b"],
    },
    line: '{"event":"tick","site":{"user":"ops","Password":"***","account-key":"***","access_token":"***"},"token":"***"}',
  },
  {
    name: "a connection string inside a text",
    fields: { text: "AccountName=a;AccountKey=abc/def==;Q=1" },
    line: '{"event":"tick","text":"AccountName=a;AccountKey=***;Q=1"}',
  },
  {
    name: "an authorization header inside a text",
    fields: { text: "sent Basic b3BzOnNlY3JldA== to it" },
    line: '{"event":"tick","text":"sent Basic *** to it"}',
  },
  {
    name: "no authorization header: words of a page",
    fields: { text: "Basic authentication. Bearer Authentication-token required" },
    line: '{"event":"tick","text":"Basic authentication. Bearer Authentication-token required"}',
  },
  {
    name: "a bearer token inside a text",
    fields: { text: "sent authorization: bearer ey.x1234-5_6~7 to it" },
    line: '{"event":"tick","text":"sent authorization: bearer *** to it"}',
  },
  {
    name: "keys and credentials inside an address",
    fields: { url: "https://ops:secret@cc/x?code=abc&set=s&sig=xyz" },
    line: '{"event":"tick","url":"https://ops:***@cc/x?code=***&set=s&sig=***"}',
  },
  {
    name: "the token of an autostop address",
    fields: { url: "https://a/api/autostop/demo/k1.0123abcd?instance=i-1" },
    line: '{"event":"tick","url":"https://a/api/autostop/demo/***?instance=i-1"}',
  },
  {
    name: "maps, sets and large integers",
    fields: { map: new Map([["a", 1]]), set: new Set([1, 2]), big: 12345678901234567890n },
    line: '{"event":"tick","map":{"a":1},"set":[1,2],"big":"12345678901234567890"}',
  },
  {
    name: "errors, with secrets in their message redacted",
    fields: { error: new PortError("denied", "GET /x?code=abc", "refused", 401) },
    line: '{"event":"tick","error":{"name":"PortError","message":"GET /x?code=*** refused"}}',
  },
])("$name", ({ fields, line }) => {
  expect(logged("tick", fields)).toBe(line);
});

test("a value that refers to itself is named, not thrown over", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const line: unknown = JSON.parse(logged("tick", { circle }));
  expect(line).toMatchObject({ event: "tick", unloggable: expect.stringContaining("circular") });
});
