import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/compose.ts";
import { readSettings } from "../../src/local/read-settings.ts";
import { hasOpenssl, issueCertificate } from "../support/certificate.ts";
import { ROOT } from "../support/run-main.ts";

const folder = mkdtempSync(join(tmpdir(), "settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A settings file; the path is the file's. */
function fileOf(text: string): string {
  const path = join(folder, "local.settings.json");
  writeFileSync(path, text);
  return path;
}
const cluster = {
  name: "prod",
  url: "https://cc.example.org",
  username: "anna",
  passwordSetting: "CC_PASSWORD",
};
const valuesOf = (more: object = {}, clusters: readonly object[] = [cluster]) => ({
  AUTOSCALER_CLUSTERS: JSON.stringify(clusters),
  CC_PASSWORD: "secret",
  ...more,
});
const settingsOf = (values: object) => fileOf(JSON.stringify({ IsEncrypted: false, Values: values }));

test("a file with comments and a mark at its beginning is read", () => {
  const text = `\uFEFF// of my laptop\n{ "Values": ${JSON.stringify(valuesOf({ AUTOSCALER_PUBLIC_URL: "" }))}, }`;
  expect(readSettings(fileOf(text))).toMatchObject({
    kind: "settings",
    settings: { values: { CC_PASSWORD: "secret" }, clusters: [{ name: "prod", password: "secret" }] },
  });
});

const LIKE = "an object with the app settings as texts in Values, as infra/local.settings.sample.json";

describe("each problem is named with path, found and expected", () => {
  test("no such file, and a folder", () => {
    const lines = [join(folder, "none.json"), folder].map((path) => linesOf(path));
    expect(lines).toEqual([
      ["found no such file, expected a readable file"],
      ["found a directory, expected a readable file"],
    ]);
  });

  test.each([
    {
      name: "where JSON breaks",
      text: '{\n  "Values": { "A" "b" } }',
      lines: [`found invalid JSON (line 2, column 19: ColonExpected), expected ${LIKE}`],
    },
    { name: "no Values", text: "{}", lines: [`Values: found no object with this name, expected ${LIKE}`] },
    {
      name: "values that are no text",
      text: '{ "Values": { "AUTOSCALER_CLUSTERS": [] } }',
      lines: ["Values.AUTOSCALER_CLUSTERS: found a value that is not text, expected text in quotes"],
    },
    {
      name: "no clusters",
      text: '{ "Values": {} }',
      lines: ["Values.AUTOSCALER_CLUSTERS: found nothing, expected a JSON list of clusters; [] for none"],
    },
    {
      name: "an empty list of clusters",
      text: '{ "Values": { "AUTOSCALER_CLUSTERS": "[]" } }',
      lines: ["Values.AUTOSCALER_CLUSTERS: found an empty list, expected at least one cluster"],
    },
  ])("$name", ({ text, lines }) => {
    expect(linesOf(fileOf(text))).toEqual(lines);
  });

  test("a password that is not set, and a public URL without keys", () => {
    const path = settingsOf(valuesOf({ CC_PASSWORD: "", AUTOSCALER_PUBLIC_URL: "https://app.example.org" }));
    expect(linesOf(path)).toEqual([
      'Values.AUTOSCALER_CLUSTERS[0].passwordSetting: found CC_PASSWORD, which is not set, expected the name of an app setting that holds the password of anna for cluster "prod"',
      "Values.AUTOSCALER_AUTOSTOP_KEYS: found nothing, expected id:secret pairs separated by commas; ids of letters, digits, - and _; secrets of 32 characters or more without a colon, as there is a AUTOSCALER_PUBLIC_URL",
    ]);
  });

  test("the sample as it is: its secrets are not secret", () => {
    expect(linesOf(`${ROOT}/infra/local.settings.sample.json`)).toEqual([
      "Values.CYCLECLOUD_PASSWORD_PROD: found the text of the sample, expected the password",
      "Values.CYCLECLOUD_PASSWORD_TEST: found the text of the sample, expected the password",
      'Values.AUTOSCALER_AUTOSTOP_KEYS: found for "first" a text that stands for a secret, or repeats itself, expected secrets made at random, as by: openssl rand -hex 24',
    ]);
  });
});

const CA =
  'certificates as PEM text ("-----BEGIN CERTIFICATE-----..."), or the path of a file that holds them';

describe("ca is PEM text or the path of a file", () => {
  const caLines = (ca: string) => linesOf(settingsOf(valuesOf({}, [{ ...cluster, ca }])));

  test("what is neither is named", () => {
    const none = join(folder, "none.pem");
    const empty = join(folder, "empty.pem");
    writeFileSync(empty, "");
    mkdirSync(join(folder, "certificates"));
    const path = "Values.AUTOSCALER_CLUSTERS[0].ca";
    expect(caLines(none)).toEqual([
      `${path}: found the path "${none}": there is no such file, expected ${CA}`,
    ]);
    expect(caLines(join(folder, "certificates"))).toEqual([
      `${path}: found the path "${join(folder, "certificates")}": it is a directory, expected ${CA}`,
    ]);
    expect(caLines(empty)).toEqual([
      `${path}: found the file "${empty}", which holds no readable certificate as PEM text, expected ${CA}`,
    ]);
    expect(caLines("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")).toEqual([
      `${path}: found PEM text that holds no readable certificate, expected ${CA}`,
    ]);
  });

  test("what does not end, or is larger than all CAs together, is not read", () => {
    const path = "Values.AUTOSCALER_CLUSTERS[0].ca";
    expect(caLines("/dev/zero")).toEqual([
      `${path}: found the path "/dev/zero": it is no file, expected ${CA}`,
    ]);
    const large = join(folder, "large.pem");
    writeFileSync(large, " ".repeat(1024 * 1024 + 1));
    expect(caLines(large)).toEqual([`${path}: found the file "${large}" of 1048577 bytes, expected ${CA}`]);
  });

  test.skipIf(!hasOpenssl())("which was found, and how many certificates, is said", () => {
    const { cert, path } = issueCertificate(folder, "own", "IP:127.0.0.1");
    const foundIn = (ca: string) => {
      const values = valuesOf({ AzureWebJobsStorage: "UseDevelopmentStorage=true" }, [{ ...cluster, ca }]);
      return readConfig(values).clusters[0]?.ca;
    };
    expect(foundIn(cert)).toEqual({ pem: cert, found: "PEM text, 1 certificate" });
    expect(foundIn(`${cert}\n${cert}`)?.found).toBe("PEM text, 2 certificates");
    expect(foundIn(path)).toEqual({ pem: cert, found: `the file ${path}, 1 certificate` });
  });
});

function linesOf(path: string): readonly string[] {
  const read = readSettings(path);
  if (read.kind === "settings") return [];
  return read.problems.map(
    (one) => `${one.path === "" ? "" : `${one.path}: `}found ${one.found}, expected ${one.expected}`,
  );
}
