import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSecretFile, isSecretPath } from '../../../engine/workspace/secretFiles.ts';

const secrets = [
  '.env .env.local .env-prod .env_test .ENV production.env app.env.local prod.env.bak .env.ts .envrc',
  'server.pem tls.key a.crt a.cer a.p12 a.pfx a.jks release.keystore a.kdbx a.ppk key.asc tls.key.bak',
  'id_rsa id_rsa.pub id_ed25519 ID_RSA id_ecdsa_old ssh_host_rsa_key',
  '.npmrc .netrc _netrc .pypirc .pgpass .git-credentials .htpasswd',
  'credentials credentials.json secrets.yaml service-account-prod.json client_secret_123.json',
  'secret.yaml secret.json db-secrets.yml app.secret.toml key.properties shop-firebase-adminsdk-x1.json',
  'prod.auto.tfvars.json terraform.tfstate terraform.tfstate.backup prod.tfvars .bash_history',
].flatMap((line) => line.split(' '));

const harmless = [
  'environment.ts env.ts keys.ts key.ts monkey turkey.md pem.go credentials.ts secrets.py token.ts',
  'id_generator.ts settings.json secret.ts secretary.json README.md crt0.c keyboard.c .envoy.yaml key',
  'process.env.d.ts test.env.js vite-env.d.ts',
].flatMap((line) => line.split(' '));

test('files that hold secrets are told by their names', () => {
  for (const name of secrets) assert.ok(isSecretFile(name), name);
});

test('code about secrets is code', () => {
  for (const name of harmless) assert.ok(!isSecretFile(name), name);
});

test('everything in a folder for secrets is secret, with either separator', () => {
  assert.ok(isSecretPath('/backup/.ssh/config'));
  assert.ok(isSecretPath('C:\\Users\\me\\.aws\\config'));
  assert.ok(isSecretPath('/project/.env'));
  assert.ok(!isSecretPath('/project/src/secrets.ts'));
});
