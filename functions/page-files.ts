/**
 * The files of the page by name. In a clone they are made of src/page at the first request. The package has them made: `npm run build` puts
 * them in place of this module, because a built page in git would hide what changes (infra/build-page.ts).
 */
export function pageFiles(): Promise<Readonly<Record<string, string>>> {
  files ??= import("../infra/build-page.ts").then(async ({ buildPage }) => (await buildPage()).files);
  return files;
}

let files: Promise<Readonly<Record<string, string>>> | undefined;
