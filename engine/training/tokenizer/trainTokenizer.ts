/**
 * Trains the tokenizer on the training corpus.
 * Run: node --max-old-space-size=8000 --import tsx engine/training/tokenizer/trainTokenizer.ts SIZE OUTPUT.json
 */
import type { CorpusDocument } from '../corpus/document.ts';
import { readDocuments } from '../corpus/readDocuments.ts';
import { writeWholeFile } from '../wholeFile.ts';
import { trainBpe } from './bpeTrainer.ts';
import { preTokenize } from './preTokenizer.ts';
import { SPECIAL_TOKENS, tokenizerFile } from './tokenizerFile.ts';

const MIN_COUNT = 4;
const MAX_PIECE_LENGTH = 48;
/** Every n-th file is enough: counts of pieces settle long before the corpus ends. */
const FILE_STRIDE = 4;

async function countPieces(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let index = 0;
  for await (const { text } of readDocuments('train') satisfies AsyncIterable<CorpusDocument>) {
    if (index++ % FILE_STRIDE !== 0) continue;
    for (const piece of preTokenize(text)) {
      if (piece.length <= MAX_PIECE_LENGTH) counts.set(piece, (counts.get(piece) ?? 0) + 1);
    }
  }
  for (const [piece, count] of counts) if (count < MIN_COUNT) counts.delete(piece);
  return counts;
}

const [size, output] = process.argv.slice(2);
if (!size || !output) throw new Error('usage: trainTokenizer.ts SIZE OUTPUT.json');
const pieces = await countPieces();
const model = trainBpe(pieces, Number(size) - SPECIAL_TOKENS.length);
writeWholeFile(output, [JSON.stringify(tokenizerFile(model))]);
console.log(`${pieces.size} pieces, ${model.tokens.length + SPECIAL_TOKENS.length} tokens`);
