import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkDraftVocabulary } from '../../../engine/draft/draftModelVocabulary.ts';
import { embeddedModelDir } from '../../../engine/embeddedModel.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';
import { tinyCoder } from '../text/tinyCoder.ts';

const folder = temporaryFolder();
const target = { tokenizer: tinyCoder, vocabSize: 8192 };

interface TokenizerJson {
  model: { vocab: Record<string, number>; merges: string[] };
  added_tokens: { id: number; content: string; special: boolean }[];
}

/** A folder with the embedded model's tokenizer, changed. */
function draftDir(name: string, change: (json: TokenizerJson) => void): string {
  const dir = join(folder, name);
  mkdirSync(dir);
  cpSync(join(embeddedModelDir, 'tokenizer_config.json'), join(dir, 'tokenizer_config.json'));
  const json: TokenizerJson = JSON.parse(readFileSync(join(embeddedModelDir, 'tokenizer.json'), 'utf8'));
  change(json);
  writeFileSync(join(dir, 'tokenizer.json'), JSON.stringify(json));
  return dir;
}

test('a target without a tokenizer drafts with a model of the same size', async () => {
  const bare = { tokenizer: undefined, vocabSize: 8192 };
  await checkDraftVocabulary(bare, { dir: embeddedModelDir, vocabSize: 8192 });
  await assert.rejects(checkDraftVocabulary(bare, { dir: embeddedModelDir, vocabSize: 8200 }), /8200.*8192/);
});

test('the same tokenizer is accepted, whatever the embedding is padded to', async () => {
  await checkDraftVocabulary(target, { dir: embeddedModelDir, vocabSize: 8192 });
  await checkDraftVocabulary(target, { dir: embeddedModelDir, vocabSize: 8320 });
});

test('without a tokenizer of its own a draft model has to be of the same size', async () => {
  const dir = join(folder, 'bare');
  mkdirSync(dir);
  await checkDraftVocabulary(target, { dir, vocabSize: 8192 });
  await assert.rejects(checkDraftVocabulary(target, { dir, vocabSize: 8193 }), {
    code: 'model.unsupported',
    message: /bare cannot draft for this model: without a tokenizer\.json .*8193 tokens.*8192/,
  });
});

const differences: Readonly<Record<string, [change: (json: TokenizerJson) => void, said: RegExp]>> = {
  'another special token': [
    ({ added_tokens: tokens }) => {
      tokens[0].content = '<|other|>';
    },
    /special token <\|/,
  ],
  'two tokens exchanged': [
    ({ model: { vocab } }) => {
      const [a, b] = [97, 194].map((id) => Object.keys(vocab).find((token) => vocab[token] === id)!);
      [vocab[a], vocab[b]] = [vocab[b], vocab[a]];
    },
    /its token 97 is/,
  ],
  'a token less': [
    (json) => {
      json.added_tokens.pop();
    },
    /special token|8191 tokens/,
  ],
  'other merges': [
    ({ model }) => {
      model.merges.length = 200;
    },
    /into other tokens/,
  ],
};

for (const [name, [change, said]] of Object.entries(differences)) {
  test(`refused: ${name}`, async () => {
    const draft = { dir: draftDir(name, change), vocabSize: 8192 };
    await assert.rejects(checkDraftVocabulary(target, draft), { code: 'model.unsupported', message: said });
  });
}

test('another tokenizer is refused', async () => {
  const dir = fileURLToPath(new URL('../../fixtures/tokenizers/qwen2.5-trimmed', import.meta.url));
  await assert.rejects(checkDraftVocabulary(target, { dir, vocabSize: 8192 }), { code: 'model.unsupported' });
});
