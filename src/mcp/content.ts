/** Content of messages, results and resources (MCP 2025-11-25). */

/** One side of a connection. */
export type Role = 'user' | 'assistant';

/** Hints of a server on how to use a piece of content. */
export type Annotations = {
  /** For whom the content is. */
  audience?: Role[] | undefined;
  /** Importance, from 0 (optional) to 1 (required). */
  priority?: number | undefined;
  /** Time of the last change, in ISO 8601. */
  lastModified?: string | undefined;
};

/** An icon for display. */
export type Icon = {
  /** An `https:` or `data:` address. */
  src: string;
  /** MIME type, if that of the address is missing or too general. */
  mimeType?: string | undefined;
  /** Sizes, such as `48x48`, or `any`. */
  sizes?: string[] | undefined;
  /** The background that it is made for. */
  theme?: 'light' | 'dark' | undefined;
};

/** Fields that the protocol does not define, by name. */
export type Meta = Record<string, unknown>;

/** Text. */
export type TextContent = {
  /** Always `text`. */
  type: 'text';
  /** The text. */
  text: string;
  /** Hints on how to use it. */
  annotations?: Annotations | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** An image. */
export type ImageContent = {
  /** Always `image`. */
  type: 'image';
  /** The image in base64. */
  data: string;
  /** MIME type of the image. */
  mimeType: string;
  /** Hints on how to use it. */
  annotations?: Annotations | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** Sound. */
export type AudioContent = {
  /** Always `audio`. */
  type: 'audio';
  /** The sound in base64. */
  data: string;
  /** MIME type of the sound. */
  mimeType: string;
  /** Hints on how to use it. */
  annotations?: Annotations | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** Text of a resource. */
export type TextResourceContents = {
  /** URI of the resource, or of a part of it. */
  uri: string;
  /** MIME type of the text. */
  mimeType?: string | undefined;
  /** The text. */
  text: string;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** Binary data of a resource. */
export type BlobResourceContents = {
  /** URI of the resource, or of a part of it. */
  uri: string;
  /** MIME type of the data. */
  mimeType?: string | undefined;
  /** The data in base64. */
  blob: string;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** A resource within a message. */
export type EmbeddedResource = {
  /** Always `resource`. */
  type: 'resource';
  /** Its text or data. */
  resource: TextResourceContents | BlobResourceContents;
  /** Hints on how to use it. */
  annotations?: Annotations | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** A resource that a server offers. */
export type Resource = {
  /** URI of the resource. */
  uri: string;
  /** Name for programs. */
  name: string;
  /** Name for people. */
  title?: string | undefined;
  /** What it holds. */
  description?: string | undefined;
  /** MIME type, if known. */
  mimeType?: string | undefined;
  /** Size in bytes before any encoding, if known. */
  size?: number | undefined;
  /** Icons for display. */
  icons?: Icon[] | undefined;
  /** Hints on how to use it. */
  annotations?: Annotations | undefined;
  /** Fields that the protocol does not define. */
  _meta?: Meta | undefined;
};

/** A link to a resource within a message. */
export type ResourceLink = Resource & {
  /** Always `resource_link`. */
  type: 'resource_link';
};

/** A piece of a result or a prompt. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
