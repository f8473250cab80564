import type { GgufSource } from '../gguf/convertCheckpoint.ts';
import type { PeerSetup } from './llamaCpp.ts';
import type { LlamaContext, LlamaSequence, PeerModule, TokenPredictor } from './peerModule.ts';

/** What the peer predicts tokens with; its own classes, with what can be set of them and pays. */
export type PeerDrafting =
  | { readonly kind: 'lookup'; readonly maxTokens: number }
  /** `dir`: a checkpoint with the target's tokenizer. */
  | {
      readonly kind: 'draftModel';
      readonly dir: string;
      readonly minTokens: number;
      readonly minConfidence: number;
    };

/** A sequence of the target, and what drafts for it. */
export interface PeerSequence {
  readonly target: LlamaSequence;
  readonly predictor: TokenPredictor | undefined;
  /** The draft model's, where one drafts. */
  readonly draft: LlamaSequence | undefined;
}

export interface PeerSequenceParts {
  readonly module: PeerModule;
  readonly modelDir: string;
  readonly createContext: (source: GgufSource, setup: PeerSetup) => Promise<LlamaContext>;
}

export async function openSequence(parts: PeerSequenceParts, setup: PeerSetup): Promise<PeerSequence> {
  const { module, modelDir, createContext } = parts;
  const { drafting } = setup;
  const target = await createContext({ checkpointDir: modelDir, tokenizerDir: modelDir }, setup);
  switch (drafting?.kind) {
    case undefined:
      return { target: target.getSequence(), predictor: undefined, draft: undefined };
    case 'lookup': {
      const { InputLookupTokenPredictor } = module;
      const predictor = new InputLookupTokenPredictor({ predictionLength: { max: drafting.maxTokens } });
      return { target: target.getSequence({ tokenPredictor: predictor }), predictor, draft: undefined };
    }
    case 'draftModel': {
      const { DraftSequenceTokenPredictor } = module;
      const context = await createContext({ checkpointDir: drafting.dir, tokenizerDir: modelDir }, setup);
      const draft = context.getSequence();
      const predictor = new DraftSequenceTokenPredictor(draft, drafting);
      return { target: target.getSequence({ tokenPredictor: predictor }), predictor, draft };
    }
  }
}
