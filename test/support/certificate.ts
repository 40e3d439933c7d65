import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A key and a certificate as PEM text, and the path of the certificate's file. */
export interface Issued {
  readonly key: string;
  readonly cert: string;
  readonly path: string;
}

/** Issues a self-signed certificate for an address, such as a new CycleCloud server has. Uses openssl, because Node cannot issue any. */
export function issueCertificate(folder: string, name: string, subject: string): Issued {
  const [keyPath, path] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${subject}`];
  execFileSync("openssl", ["req", "-x509", ...curve, ...names, "-keyout", keyPath, "-out", path], {
    stdio: "ignore",
  });
  return { key: readFileSync(keyPath, "utf8"), cert: readFileSync(path, "utf8"), path };
}

/** Whether openssl is installed. Writes a warning if it is not. */
export function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    console.warn("skipped: certificates are made with openssl, which is not installed");
    return false;
  }
}
