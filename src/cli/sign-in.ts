import type { TokenCredential } from "@azure/identity";

let credential: Promise<TokenCredential> | undefined;

/** A token of the signed-in identity here: az login, the environment, or the machine's own. Loaded when first used. */
export async function signIn(scope: string): Promise<string> {
  credential ??= import("@azure/identity").then(({ DefaultAzureCredential }) => new DefaultAzureCredential());
  const token = await (await credential).getToken(scope);
  if (token === null) throw new Error(`no token for ${scope}`);
  return token.token;
}
