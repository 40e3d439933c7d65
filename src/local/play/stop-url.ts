/** The output of `jetpack config cyclecloud.cluster.autoscale.stop_callback` on a node with this configuration (cyclecloud-wire.md D.1). */
export function readStopUrl(configuration: Readonly<Record<string, unknown>>): string | undefined {
  let value: unknown = configuration;
  for (const key of ["cyclecloud", "cluster", "autoscale", "stop_callback"]) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.entries(value).find(([name]) => name === key)?.[1];
  }
  return typeof value === "string" ? value : undefined;
}
