import type { HttpHandler, HttpResponseInit } from "@azure/functions";
import { createHash } from "node:crypto";
import { pageFiles } from "./page-files.ts";

/**
 * The page for people (docs/page.md): one HTML and its files, all of this origin. It holds no data, so it needs no key: it reads the API with
 * the key that its user enters.
 */
export const answerPage: HttpHandler = async (request) => {
  const name = request.params["file"] ?? "index.html";
  const content = (await pageFiles())[name];
  const type = TYPES[name.slice(name.lastIndexOf("."))];
  if (content === undefined || type === undefined) return { status: 404, headers: SAFE };
  const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
  // A browser asks each time whether its copy is that of the release that answers.
  const headers = { ...SAFE, "content-type": type, "cache-control": "no-cache", etag };
  const answer: HttpResponseInit =
    request.headers.get("if-none-match") === etag
      ? { status: 304, headers }
      : { status: 200, headers, body: content };
  return answer;
};

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Nothing from elsewhere, nothing inline, in no frame; and no text is ever read as markup (docs/threat-model.md, T50). */
const POLICY = [
  "default-src 'none'",
  ...["script", "style", "connect", "img"].map((what) => `${what}-src 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((what) => `${what} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const SAFE = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;
