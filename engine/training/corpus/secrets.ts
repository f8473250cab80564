/** What has the shape of a secret or of a person's address; each is replaced by a harmless text of the same role. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?-----END \1-----/g, '<private key>'],
  [/\bAKIA[0-9A-Z]{16}\b/g, '<access key>'],
  [/\bgh[pousr]_[A-Za-z0-9]{36,}\b/g, '<token>'],
  [/\b(?:xox[abprs]|sk|pk|rk)[-_](?:live|test|proj)?[-_]?[A-Za-z0-9-]{20,}\b/g, '<token>'],
  [/\bAIza[0-9A-Za-z_-]{35}\b/g, '<api key>'],
  [/\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g, '<jwt>'],
  [/\bnpm_[A-Za-z0-9]{36}\b/g, '<token>'],
  [
    /[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.(?:[A-Za-z0-9-]+\.)*(?:com|org|net|io|edu|de|fr|dev|me|uk|ru|cn|jp)\b/g,
    'user@example.com',
  ],
  [/(["'`])[0-9a-fA-F]{40,}\1/g, '$1<hex>$1'],
  [/(["'`])[A-Za-z0-9+/]{120,}={0,2}\1/g, '$1<base64>$1'],
];

/** Replaces keys, tokens, e-mail addresses and long opaque literals. */
export function scrubSecrets(text: string): string {
  return SECRETS.reduce((scrubbed, [pattern, replacement]) => scrubbed.replace(pattern, replacement), text);
}
