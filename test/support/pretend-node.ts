/** Arguments that let a process believe that its Node has this version. */
export function pretendNode(version: string): readonly string[] {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  return ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`];
}
