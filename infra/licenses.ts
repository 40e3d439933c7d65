import type { Metafile } from "esbuild";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The file's name in the function app's package and in the npm package. */
export const LICENSES_FILE = "THIRD-PARTY-LICENSES.txt";

const HEAD = "These packages are part of the bundled files beside this one, each under its own licence.\n";
const RULE = `\n${"-".repeat(78)}\n\n`;

/**
 * The copyright and licence of each package with code in these bundles, by name. MIT, BSD and Apache ask for them in copies, and the bundles
 * hold no comments. Rejects if a package has no licence file and its package.json does not say enough: a person has to look at it then.
 */
export async function thirdPartyLicenses(bundles: readonly Pick<Metafile, "outputs">[]): Promise<string> {
  const sources = bundles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([source, { bytesInOutput }]) => (bytesInOutput > 0 ? [source] : [])),
    );
  const folders = sources.flatMap(
    (source) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(source)?.[0] ?? [],
  );
  const parts = await Promise.all([...new Set(folders)].toSorted().map(licenseOf));
  return [HEAD, ...parts].join(RULE);
}

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string(),
  author: z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]).optional(),
});

async function licenseOf(folder: string): Promise<string> {
  const place = path.join(ROOT, folder);
  const { name, version, license, author } = manifestSchema.parse(
    JSON.parse(await readFile(path.join(place, "package.json"), "utf8")),
  );
  const files = (await readdir(place)).filter((file) => /^(licen[cs]e|copying|notice)(\.|$)/i.test(file));
  const texts = await Promise.all(files.toSorted().map((file) => readFile(path.join(place, file), "utf8")));
  if (texts.length === 0 && (license !== "MIT" || author === undefined))
    throw new Error(`${name} ${version} has no licence file: find its licence and its copyright line`);
  const text = texts.length > 0 ? texts.join("\n") : `Copyright (c) ${author}\n\n${await permission()}`;
  return `${name} ${version} (${license})\n\n${text.replaceAll("\r\n", "\n").trim()}\n`;
}

/** The text of the MIT licence behind its copyright line, which is that of this repository. */
async function permission(): Promise<string> {
  const text = await readFile(path.join(ROOT, "LICENSE"), "utf8");
  return text.slice(text.indexOf("Permission is hereby granted"));
}
