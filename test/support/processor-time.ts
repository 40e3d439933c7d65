/** Processor time of this process in milliseconds. Other processes do not lengthen it, so it can be bounded on a busy machine. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
