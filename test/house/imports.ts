import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** A file of the repository. The path is relative to the root, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The rooms of the house (architecture.md, The house), and the rooms that each may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: ["domain"],
  decide: ["decide", "domain"],
  wire: ["wire", "domain"],
  "app/ports": ["app/ports", "domain"],
  app: ["app", "app/ports", "decide", "domain"],
  adapters: ["adapters", "app/ports", "domain"],
  simulator: ["simulator", "domain"],
  client: ["client", "wire", "domain"],
  // `check` reads CycleCloud itself, before there is an app to ask: it needs the parts that compose builds.
  // `top` has the words of the page.
  cli: ["cli", "client", "compose", "agent", "agent/slurm", "page/words"],
  "agent/slurm": ["agent/slurm", "client", "domain"],
  agent: ["agent", "agent/slurm", "client", "domain"],
  // The name of a trigger's connection is needed when the trigger is registered, before anything else is loaded.
  "config/demand-storage": ["config", "domain"],
  config: ["config", "config/demand-storage", "wire", "domain"],
  compose: [
    "compose",
    "config",
    "config/demand-storage",
    "adapters",
    "app",
    "app/ports",
    "wire",
    "decide",
    "domain",
  ],
  // In a clone the page is made when it is first asked for; the package has it made.
  "functions/page-files": ["infra"],
  // It runs in a browser.
  page: ["page", "page/words", "client", "domain"],
  "page/words": ["client", "domain"],
  functions: [
    "functions",
    "functions/page-files",
    "config/demand-storage",
    "compose",
    "app",
    "app/ports",
    "wire",
    "domain",
  ],
  local: ["local", "functions", "compose", "wire", "simulator", "client", "domain"],
  infra: ["infra"],
};

/**
 * Folders from which a room may import types only. The app's answers have the types of the schemas that describe them, so that a member
 * that only one of the two has is a compiler error.
 */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  app: ["src/wire/api/"],
};

/** Rooms whose code is pure: no clock, no randomness, no environment, no waiting. */
const PURE = new Set(["domain", "decide", "agent/slurm"]);

const IMPURE: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  {
    what: "a clock",
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\bsetTimeout\b|\bsetInterval\b/,
  },
  { what: "randomness", pattern: /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b/ },
  { what: "process.env", pattern: /\bprocess\.env\b/ },
  { what: "async", pattern: /\basync\b|\bawait\b|\bnew Promise\b/ },
];

/** Packages that a room may import; a room that is not named may import any. Of node:crypto: its synchronous hashes. */
const ALLOWED_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  domain: ["node:crypto"],
  decide: ["node:crypto"],
  "agent/slurm": [],
};

/** The room of a file. Undefined if the file is not part of the product. */
export function roomOf(path: string): string | undefined {
  if (path === "functions/page-files.ts") return "functions/page-files";
  if (path.startsWith("functions/")) return "functions";
  if (path.startsWith("infra/")) return "infra";
  if (path.startsWith("src/app/ports/")) return "app/ports";
  if (path === "src/page/words.ts") return "page/words";
  if (path.startsWith("src/agent/slurm/")) return "agent/slurm";
  if (path === "src/config/demand-storage.ts") return "config/demand-storage";
  return /^src\/([a-z]+)(?:\/|\.ts$)/.exec(path)?.[1];
}

/** Every import that the house forbids, and every impurity in a pure room, as sentences. */
export function findViolations(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => [...forbiddenImports(file), ...impurities(file), ...environmentReads(file)]);
}

function forbiddenImports(file: SourceFile): readonly string[] {
  const room = roomOf(file.path);
  if (room === undefined) return [`${file.path}: stands in no room of the house`];
  const values = importsOf(file.text.replace(TYPE_IMPORT, ""));
  return importsOf(file.text).flatMap((specifier) => {
    if (!specifier.startsWith(".")) {
      const allowed = ALLOWED_PACKAGES[room];
      return allowed === undefined || allowed.includes(specifier)
        ? []
        : [`${file.path}: ${room} may not import ${specifier}`];
    }
    const target = normalize(join(dirname(file.path), specifier));
    // The command line and the app print their release.
    if ((room === "cli" || room === "functions") && target === "package.json") return [];
    // All rooms use the same types of durations.
    if (target === "src/domain/units.ts") return [];
    const typesOf = MAY_IMPORT_TYPES[room] ?? [];
    if (typesOf.some((folder) => target.startsWith(folder)) && !values.includes(specifier)) return [];
    const other = roomOf(target);
    return other !== undefined && (MAY_IMPORT[room] ?? []).includes(other)
      ? []
      : [`${file.path}: ${room} may not import ${target}`];
  });
}

/** `import type { … } from`, which the compiler removes. */
const TYPE_IMPORT = /^import type \{[^}]*\} from [^;]*;$/gm;

export function importsOf(text: string): readonly string[] {
  const pattern = /(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+|\brequire\s*\(\s*)["']([^"'\n]+)["']/g;
  return [...withoutComments(text).matchAll(pattern)].flatMap((match) => match[1] ?? []);
}

function impurities(file: SourceFile): readonly string[] {
  if (!PURE.has(roomOf(file.path) ?? "")) return [];
  const code = withoutComments(file.text);
  return IMPURE.filter(({ pattern }) => pattern.test(code)).map(
    ({ what }) => `${file.path}: ${what} in a pure room`,
  );
}

/** In the app only config.ts reads the environment. local/ and the entry mains are programs of their own. */
function environmentReads(file: SourceFile): readonly string[] {
  const room = roomOf(file.path);
  const free = room === "config" || room === "local" || room === "infra" || file.path.endsWith("/main.ts");
  const reads = /\bprocess\.env\b/.test(withoutComments(file.text));
  return reads && !free && !PURE.has(room ?? "")
    ? [`${file.path}: reads process.env; config.ts does that`]
    : [];
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/[^\n]*/g, "$1");
}

/** All TypeScript files of functions/, src/ and infra/. */
export function readSources(root: string): readonly SourceFile[] {
  return ["functions", "src", "infra"].flatMap((folder) => readFolder(root, folder));
}

/** All TypeScript files of test/. */
export function readTests(root: string): readonly SourceFile[] {
  return readFolder(root, "test");
}

function readFolder(root: string, folder: string): readonly SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: relative(root, path).replaceAll("\\", "/"),
      text: readFileSync(path, "utf8"),
    }));
}
