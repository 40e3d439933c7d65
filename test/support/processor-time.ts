/** Processor time of this process in milliseconds. Other processes do not add to it, so a test can bound it on a busy machine. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
