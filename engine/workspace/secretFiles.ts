/**
 * Files that hold secrets are never read, whatever the user's ignore rules say: by name, because looking inside
 * would be reading. Compared in lower case.
 */
const names: ReadonlySet<string> = new Set([
  // credentials of tools
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pypirc',
  '.netrc',
  '_netrc',
  '.pgpass',
  '.my.cnf',
  '.htpasswd',
  '.git-credentials',
  '.dockercfg',
  '.dockerconfigjson',
  '.vault-token',
  '.terraformrc',
  'terraform.rc',
  '.s3cfg',
  '.boto',
  '.passwd',
  'kubeconfig',
  'credentials',
  'credentials.json',
  'credentials.yml',
  'credentials.yaml',
  'credentials.toml',
  'credentials.xml',
  'secrets',
  'master.key',
  'key.properties', // Android's signing
  'application_default_credentials.json',
  'google-services.json',
  'googleservice-info.plist',
  'wp-config.php',
  'local.settings.json',
  // shell and database histories hold what was typed
  '.bash_history',
  '.zsh_history',
  '.psql_history',
  '.mysql_history',
  '.node_repl_history',
  '.python_history',
]);

const extensions: ReadonlySet<string> = new Set([
  // keys and certificates
  'pem',
  'key',
  'crt',
  'cer',
  'der',
  'csr',
  'p7b',
  'p7c',
  'p8',
  'p12',
  'pfx',
  'ppk',
  'asc',
  'gpg',
  'pgp',
  'ovpn',
  // key stores and password safes
  'jks',
  'jceks',
  'bks',
  'keystore',
  'truststore',
  'kdb',
  'kdbx',
  'agilekeychain',
  'keychain',
  'mobileprovision',
  // states that tools write secrets into
  'tfstate',
  'tfvars',
]);

const patterns: readonly RegExp[] = [
  /^\.env($|[.\-_])/, // .env, .env.local, .env-production
  /\.env(\.|$)(?!([^.]+\.)*[cm]?[jt]sx?$)/, // production.env, app.env.local; process.env.d.ts is code
  /^\.?envrc/, // direnv
  /^id_(rsa|dsa|ecdsa|ed25519)/, // with any suffix, copies too
  /^ssh_host_.*_key/,
  /^service[-_]?account.*\.json$/,
  /^client_secrets?.*\.json$/,
  /-firebase-adminsdk.*\.json$/,
  /(^|[.\-_])secrets?\.(json|ya?ml|toml|xml|ini|properties|txt)$/,
  /\.(tfstate|tfvars)(\.|$)/,
  /\.(pem|key|p12|pfx|keystore|jks|kdbx)\.(bak|old|orig|txt)$/,
];

const directories: ReadonlySet<string> = new Set([
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.gcloud',
  '.kube',
  '.docker',
  '.password-store',
  '.secrets',
  'secrets',
]);

/** @param name a file's name without folders */
export function isSecretFile(name: string): boolean {
  const lower = name.toLowerCase();
  const extension = lower.slice(lower.lastIndexOf('.') + 1);
  return (
    names.has(lower) ||
    (lower.includes('.') && extensions.has(extension)) ||
    patterns.some((pattern) => pattern.test(lower))
  );
}

/** @param name a folder's name; nothing below such a folder is read */
export function isSecretFolder(name: string): boolean {
  return directories.has(name.toLowerCase());
}

/** Whether a file or any folder on its path is secret. */
export function isSecretPath(path: string): boolean {
  const parts = path.split(/[/\\]/);
  const name = parts.pop() ?? '';
  return isSecretFile(name) || parts.some(isSecretFolder);
}
