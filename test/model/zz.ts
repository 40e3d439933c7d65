const { MUTANTS, playMutant } = await import("/tmp/wt/model/test/model/mutants.ts");
const only = process.argv.slice(2);
for (const m of MUTANTS) {
  if (only.length && !only.some((o) => m.name.includes(o))) continue;
  const t = Date.now();
  const { stdout, code } = await playMutant(m, ["--sequences", String(m.sequences)]);
  const first = stdout.split("\n").find((l: string) => l.startsWith("seed")) ?? "";
  console.log(
    code,
    m.name,
    "|",
    stdout.trim().split("\n").at(-1),
    "|",
    first.slice(0, 130),
    (Date.now() - t) / 1000,
  );
}
