import { posix } from "node:path";

/** A text of the repository. The path is relative to its root, with forward slashes. */
export interface Text {
  readonly path: string;
  readonly text: string;
}

/** The possible targets of citations and links. */
export interface Targets {
  /** Pages of docs/, by file name. */
  readonly pages: ReadonlyMap<string, string>;
  /** Whether the repository has a file or folder with this path. */
  readonly has: (path: string) => boolean;
}

/** Pages that are not in the repository, or were not once. No comment may cite them. */
const OUTSIDE = /\b(?:design|scalelib-behaviour|house|protocol-rules)\.md\b|\bfindings\//;

/** Every dead citation in the comments of a source file, as sentences. */
export function deadCitations({ path, text }: Text, targets: Targets): readonly string[] {
  return commentsOf(text).flatMap((comment) =>
    [
      ...(OUTSIDE.test(comment) ? [OUTSIDE.exec(comment)?.[0] ?? ""] : []),
      ...deadPages(comment, path, targets),
      ...deadNumbers(comment, targets),
    ].map((what) => `${path}: ${what}`),
  );
}

/** Comments with their lines joined, so that a citation may be wrapped. */
function commentsOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/\/\*\*?([\s\S]*?)\*\//g)].map(([, body = ""]) =>
    body.replaceAll(/\n\s*\* ?/g, " "),
  );
  const lines = [...text.matchAll(/(?:^|\s)\/\/ (.*(?:\n\s*\/\/ .*)*)/g)].map(([, body = ""]) =>
    body.replaceAll(/\n\s*\/\/ /g, " "),
  );
  return [...blocks, ...lines];
}

const PAGE = /([\w./-]*[\w-]\.md)\b(?:,? section (\d+b?))?(?:, "([^"]+)"|, (?=[A-Z][a-z])([^.;:)]+))?/g;

/** Cited pages that do not exist, and headings that a page does not have. */
function deadPages(comment: string, path: string, { pages, has }: Targets): readonly string[] {
  return [...comment.matchAll(PAGE)].flatMap(([whole, file = "", section, quoted, named]) => {
    const page = pages.get(file.replace(/^docs\//, ""));
    if (page === undefined) {
      const known = has(file) || has(posix.join(posix.dirname(path), file));
      return known ? [] : [`no page ${file}`];
    }
    const headings = headingsOf(page);
    const first = section === undefined ? "" : `Section ${section}:`;
    if (!headings.some((heading) => heading.startsWith(first))) return [`no ${whole}`];
    const words = quoted ?? named;
    if (words === undefined) return [];
    // "Looks and Plans" names two headings. Words may follow the name.
    const all = [...headings, ...[...page.matchAll(/\*\*(\w[^*]*)\*\*/g)].map(([, bold = ""]) => bold)];
    const parts = all.includes(words) ? [words] : words.split(/ and (?=[A-Z])/);
    const isThere = (part: string) =>
      all.some(
        (heading) => part === heading || part.startsWith(`${heading} `) || part.startsWith(`${heading},`),
      );
    return parts.every(isThere) ? [] : [`no heading "${words}" in ${file}`];
  });
}

function headingsOf(page: string): readonly string[] {
  return [...page.matchAll(/^#{1,4} (.*)$/gm)].map(([, heading = ""]) => heading);
}

/** Sections of cyclecloud-wire.md (A.3, semantics 2), of scalelib.md (scalelib.md 9 and 10), and defects (defects 15 to 17). */
function deadNumbers(comment: string, { pages }: Targets): readonly string[] {
  const wire = pages.get("cyclecloud-wire.md") ?? "";
  const scalelib = pages.get("scalelib.md") ?? "";
  const dead = [
    ...comment.matchAll(/\b([A-H]\.\d{1,2})\b(?:,? semantics (\d+)(?: (?:and|to) (\d+))?)?/g),
  ].filter(
    ([, section = "", ...numbers]) =>
      !new RegExp(`^## ${section.replace(".", "\\.")} `, "m").test(wire) ||
      numbers.some((number) => number !== undefined && !new RegExp(`^${number}\\. `, "m").test(wire)),
  );
  const letters = [...comment.matchAll(/\b(?:cyclecloud-wire\.md|wire) ([A-Z])(?![\w.])/g)].filter(
    ([, letter = ""]) => !new RegExp(`^# ${letter}\\. `, "m").test(wire),
  );
  const sections = [...comment.matchAll(/\bscalelib\.md (\d+)(?:(?:,| and| to) (\d+))?/g)].filter(
    ([, ...numbers]) =>
      numbers.some((number) => number !== undefined && !new RegExp(`^## ${number}\\. `, "m").test(scalelib)),
  );
  const defects = [...comment.matchAll(/\bdefects? (\d+)(?:(?:,| and| to) (\d+))?/g)].filter(
    ([, ...numbers]) =>
      numbers.some((number) => number !== undefined && !new RegExp(`^\\| ${number} \\|`, "m").test(scalelib)),
  );
  return [...dead, ...letters, ...sections, ...defects].map(([whole]) => `no ${whole}`);
}

/** Every dead relative link of a page, including anchors, as sentences. `read`: the text of another page. */
export function deadLinks(
  { path, text }: Text,
  { has }: Targets,
  read: (path: string) => string,
): readonly string[] {
  const prose = text
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/^( {4}|\t).*$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? path : posix.join(posix.dirname(path), file);
    if (!has(target)) return [`${path}: no ${link}`];
    if (anchor === undefined) return [];
    return anchorsOf(read(target)).includes(anchor) ? [] : [`${path}: no anchor ${link}`];
  });
}

/** The anchors that GitHub makes of headings. */
function anchorsOf(page: string): readonly string[] {
  const bare = page.replaceAll(/^```[\s\S]*?^```$/gm, "");
  const seen = new Map<string, number>();
  return headingsOf(bare).map((heading) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-");
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}
