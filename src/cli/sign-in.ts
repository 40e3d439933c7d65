import type { TokenCredential } from "@azure/identity";

let credential: Promise<TokenCredential> | undefined;

/** A token of the identity that is signed in on this machine: az login, the environment, or a managed identity. Loaded at first use. */
export async function signIn(scope: string): Promise<string> {
  credential ??= import("@azure/identity").then(({ DefaultAzureCredential }) => new DefaultAzureCredential());
  const token = await (await credential).getToken(scope);
  if (token === null) throw new Error(`no token for ${scope}`);
  return token.token;
}
