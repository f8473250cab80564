import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadTokenizer, type Tokenizer } from '../../../engine/model/tokenizer.ts';

/** A real tokenizer with a vocabulary of bytes and the special tokens given: enough to tell families apart. */
export async function loadBareTokenizer(
  special: readonly string[],
  fimTemplate?: string,
): Promise<Tokenizer> {
  const dir = mkdtempSync(join(tmpdir(), 'slipstream-bare-'));
  try {
    const vocab = Object.fromEntries(
      Array.from({ length: 512 }, (_, code) => [String.fromCharCode(code + 0x21), code]),
    );
    const added = special.map((content, index) => ({ id: 512 + index, content, special: true }));
    const file = {
      model: { type: 'BPE', vocab, merges: [] },
      added_tokens: added,
      pre_tokenizer: { type: 'ByteLevel', use_regex: false },
    };
    writeFileSync(join(dir, 'tokenizer.json'), JSON.stringify(file));
    writeFileSync(join(dir, 'tokenizer_config.json'), JSON.stringify({ fim_template: fimTemplate }));
    return await loadTokenizer(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}
