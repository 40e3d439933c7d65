/** App settings. Bindings refer to them by name. */
export type AppSettings = Readonly<Record<string, string>>;

/** Whether `AzureWebJobs.<function>.Disabled` is set (with `__` for the dots on Linux). */
export function isDisabled(functionName: string, settings: AppSettings): boolean {
  const value =
    settings[`AzureWebJobs.${functionName}.Disabled`] ?? settings[`AzureWebJobs__${functionName}__Disabled`];
  return value !== undefined && /^(true|1)$/i.test(value);
}

/** The connection string that a binding's `connection` names. Absent means the host's own storage. Throws if it is missing. */
export function connectionString(connection: string | undefined, settings: AppSettings): string {
  const name = connection === undefined || connection === "" ? "AzureWebJobsStorage" : connection;
  const value = settings[`AzureWebJobs${name}`] ?? settings[name];
  if (value === undefined) throw new Error(`app setting "${name}" (a storage connection string) is missing`);
  return value;
}
