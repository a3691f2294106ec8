import type { Stream } from "./types.js";

/** The content type of these answers. */
export const EVENT_STREAM: "text/event-stream";

/** The options of each answer. */
export interface AnswerOptions {
  /** The name of the model in the answer. Default: `mocked-model`. */
  readonly model?: string;
}

/** The tokens that an answer tells of. */
export interface Usage {
  /** The tokens of the request. */
  readonly inputTokens?: number;
  /** The tokens of the answer. Default: 0. */
  readonly outputTokens?: number;
}

/** A streamed answer of a language model: the test says each part, and ends the stream. */
interface Answer {
  /** The stream that it writes to. */
  readonly stream: Stream;
  /** Sends a part of the text. */
  text(text: string): Promise<void>;
  /** Sends a call of a tool; the arguments are sent as JSON. */
  toolCall(name: string, args: unknown, options?: { readonly callId?: string }): Promise<void>;
}

/** A chat completion of OpenAI, and of the many services with the same wire. */
export class ChatCompletion implements Answer {
  /** @param stream of `trafficmock.stream` or `route.stream`; the test ends it. */
  constructor(stream: Stream, options?: AnswerOptions);
  /** The stream that it writes to. */
  readonly stream: Stream;
  /** Sends a part of the text. */
  text(text: string): Promise<void>;
  /** Sends a call of a tool; the arguments are sent as JSON. */
  toolCall(name: string, args: unknown, options?: { readonly callId?: string }): Promise<void>;
  /** Sends the reason of the end, the usage if `inputTokens` is given, and the last line. */
  finish(usage?: Usage): Promise<void>;
  /** Sends an error in the place of the next part. Default of `kind`: `server_error`. */
  error(message: string, options?: { readonly kind?: string }): Promise<void>;
}

/** A response of OpenAI's Responses API. */
export class ModelResponse implements Answer {
  /** @param stream of `trafficmock.stream` or `route.stream`; the test ends it. */
  constructor(stream: Stream, options?: AnswerOptions);
  /** The stream that it writes to. */
  readonly stream: Stream;
  /** Sends a part of the text. */
  text(text: string): Promise<void>;
  /** Sends a call of a tool; the arguments are sent as JSON. */
  toolCall(name: string, args: unknown, options?: { readonly callId?: string }): Promise<void>;
  /** Sends the end of the response, with its usage. */
  finish(usage?: Usage): Promise<void>;
  /** Sends an error in the place of the next part. Default of `code`: `server_error`. */
  error(message: string, options?: { readonly code?: string }): Promise<void>;
}

/** A message of Anthropic. */
export class AnthropicMessage implements Answer {
  /**
   * @param stream of `trafficmock.stream` or `route.stream`; the test ends it.
   * @param options with the tokens of the request, which the beginning of the answer tells.
   */
  constructor(stream: Stream, options?: AnswerOptions & Pick<Usage, "inputTokens">);
  /** The stream that it writes to. */
  readonly stream: Stream;
  /** Sends a part of the text. */
  text(text: string): Promise<void>;
  /** Sends a call of a tool; the arguments are sent as JSON. */
  toolCall(name: string, args: unknown, options?: { readonly callId?: string }): Promise<void>;
  /** Sends the end of the message, with its reason and the usage. */
  finish(usage?: Pick<Usage, "outputTokens">): Promise<void>;
  /** Sends an error in the place of the next part. Default of `kind`: `overloaded_error`. */
  error(message: string, options?: { readonly kind?: string }): Promise<void>;
}
