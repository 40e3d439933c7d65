import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { Problem } from "../domain/demand.ts";
import type { Bytes } from "../domain/units.ts";

/** Certificates to trust, and their source. */
export interface TrustedCertificates {
  /** PEM text. */
  readonly pem: string;
  /** For users: "PEM text, 2 certificates", or the same for a file. */
  readonly found: string;
}

type CaRead =
  | { readonly kind: "ca"; readonly ca: TrustedCertificates }
  | { readonly kind: "problem"; readonly problem: Problem };

const EXPECTED =
  'certificates as PEM text ("-----BEGIN CERTIFICATE-----..."), or the path of a file that holds them';
/** All public CAs together have a fifth of that. */
const MOST_BYTES: Bytes = 1024 * 1024;
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Reads the key `ca` of a cluster: PEM text, or the path of a file with PEM text. Every certificate is parsed. Never throws. */
export function readCa(text: string, path: string): CaRead {
  const problem = (found: string): CaRead => ({
    kind: "problem",
    problem: { path, found, expected: EXPECTED },
  });
  if (text.includes("-----BEGIN")) {
    const count = countCertificates(text);
    return count === undefined
      ? problem("PEM text that holds no readable certificate")
      : { kind: "ca", ca: { pem: text, found: `PEM text, ${count}` } };
  }
  let pem: string;
  try {
    // Some devices never end.
    const file = statSync(text);
    if (!file.isFile() && !file.isDirectory()) return problem(`the path "${text}": it is no file`);
    if (file.size > MOST_BYTES) return problem(`the file "${text}" of ${file.size} bytes`);
    pem = readFileSync(text, "utf8");
  } catch (error) {
    return problem(`the path "${text}": ${failureText(error)}`);
  }
  const count = countCertificates(pem);
  return count === undefined
    ? problem(`the file "${text}", which holds no readable certificate as PEM text`)
    : { kind: "ca", ca: { pem, found: `the file ${text}, ${count}` } };
}

/** "1 certificate" or "2 certificates": those in a PEM text. Undefined if there are none, or if one cannot be read. */
function countCertificates(pem: string): string | undefined {
  const blocks = pem.match(BLOCK) ?? [];
  if (blocks.length === 0 || !blocks.every(isReadable)) return undefined;
  return blocks.length === 1 ? "1 certificate" : `${blocks.length} certificates`;
}

function isReadable(block: string): boolean {
  try {
    return new X509Certificate(block).raw.length > 0;
  } catch {
    return false;
  }
}

function failureText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a directory";
  return `it cannot be read (${typeof code === "string" ? code : "unknown error"})`;
}
