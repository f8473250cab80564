/** The engine refused a request: `message` is for the user. */
export class EngineFault extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'EngineFault';
    this.code = code;
  }
}

/** The engine went away before it answered. */
export class EngineGone extends Error {
  constructor() {
    super('The engine ended before it answered.');
    this.name = 'EngineGone';
  }
}
