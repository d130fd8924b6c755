/** The contract between the sign-in and a host that stores tokens itself, and the OAuth messages in it. */

/** Metadata of a client (RFC 7591). */
export type OAuthClientMetadata = {
  /** Addresses to which a browser may return. */
  redirect_uris: string[];
  /** How the client proves itself at the token endpoint. */
  token_endpoint_auth_method?: string | undefined;
  /** The grants that it uses. */
  grant_types?: string[] | undefined;
  /** The response types that it uses. */
  response_types?: string[] | undefined;
  /** Name for people. */
  client_name?: string | undefined;
  /** Its website. */
  client_uri?: string | undefined;
  /** Its logo. */
  logo_uri?: string | undefined;
  /** Scopes that it may request, separated by spaces. */
  scope?: string | undefined;
  /** Whom to ask about it. */
  contacts?: string[] | undefined;
  /** Its terms of service. */
  tos_uri?: string | undefined;
  /** Its privacy policy. */
  policy_uri?: string | undefined;
  /** Address of its keys. */
  jwks_uri?: string | undefined;
  /** Its keys. */
  jwks?: unknown;
  /** Id of the program. */
  software_id?: string | undefined;
  /** Version of the program. */
  software_version?: string | undefined;
  /** A signed statement about the program. */
  software_statement?: string | undefined;
};

/** What an authorization server knows a client by. */
export type OAuthClientInformation = {
  /** Id of the client. */
  client_id: string;
  /** Its secret; absent for a public client. */
  client_secret?: string | undefined;
  /** When the id was issued, in seconds since 1970. */
  client_id_issued_at?: number | undefined;
  /** When the secret expires, in seconds since 1970; 0 if never. */
  client_secret_expires_at?: number | undefined;
  /** The authorization server that it belongs to. Not sent. */
  issuer?: string | undefined;
};

/** A registered client, with or without its metadata. */
export type OAuthClientInformationMixed =
  OAuthClientInformation | (OAuthClientMetadata & OAuthClientInformation);

/** Tokens of a sign-in. */
export type OAuthTokens = {
  /** The token that the server gets. */
  access_token: string;
  /** Identity of the person (OpenID Connect). */
  id_token?: string | undefined;
  /** Usually `Bearer`. */
  token_type: string;
  /** Seconds from its issue until the access token expires. */
  expires_in?: number | undefined;
  /** Granted scopes, separated by spaces. */
  scope?: string | undefined;
  /** Gets the next access token. */
  refresh_token?: string | undefined;
  /** The authorization server that issued them. Not sent. */
  issuer?: string | undefined;
};

/** Metadata of a protected server (RFC 9728). */
export type OAuthProtectedResourceMetadata = {
  /** Any further field. */
  [field: string]: unknown;
  /** Address of the server. */
  resource: string;
  /** Authorization servers whose tokens it accepts. */
  authorization_servers?: string[] | undefined;
  /** Address of its keys. */
  jwks_uri?: string | undefined;
  /** Scopes that it knows. */
  scopes_supported?: string[] | undefined;
  /** How it takes tokens. */
  bearer_methods_supported?: string[] | undefined;
  /** Algorithms with which it signs. */
  resource_signing_alg_values_supported?: string[] | undefined;
  /** Name for people. */
  resource_name?: string | undefined;
  /** Its documentation. */
  resource_documentation?: string | undefined;
  /** Its policy. */
  resource_policy_uri?: string | undefined;
  /** Its terms of service. */
  resource_tos_uri?: string | undefined;
  /** Whether tokens are bound to a client certificate. */
  tls_client_certificate_bound_access_tokens?: boolean | undefined;
  /** Types of authorization details that it knows (RFC 9396). */
  authorization_details_types_supported?: string[] | undefined;
  /** Algorithms for DPoP (RFC 9449). */
  dpop_signing_alg_values_supported?: string[] | undefined;
  /** Whether tokens must be bound by DPoP. */
  dpop_bound_access_tokens_required?: boolean | undefined;
};

/** The part of the metadata of authorization servers that OAuth and OpenID Connect have in common. */
export type AuthorizationServerMetadata = {
  /** Any further field. */
  [field: string]: unknown;
  /** Its identity. */
  issuer: string;
  /** Where a person signs in. */
  authorization_endpoint: string;
  /** Where tokens are issued. */
  token_endpoint: string;
  /** Where clients register. */
  registration_endpoint?: string | undefined;
  /** Scopes that it knows. */
  scopes_supported?: string[] | undefined;
  /** Response types that it knows. */
  response_types_supported: string[];
  /** Response modes that it knows. */
  response_modes_supported?: string[] | undefined;
  /** Grants that it knows. */
  grant_types_supported?: string[] | undefined;
  /** How clients may prove themselves at the token endpoint. */
  token_endpoint_auth_methods_supported?: string[] | undefined;
  /** Algorithms with which clients may sign there. */
  token_endpoint_auth_signing_alg_values_supported?: string[] | undefined;
  /** Its documentation. */
  service_documentation?: string | undefined;
  /** Methods for PKCE (RFC 7636). */
  code_challenge_methods_supported?: string[] | undefined;
  /** Whether a client may be an address of its metadata. */
  client_id_metadata_document_supported?: boolean | undefined;
};

/** What is known of the authorization server of a server. */
export type OAuthDiscoveryState = {
  /** Address of the authorization server. */
  authorizationServerUrl: string;
  /** Its metadata, if it publishes any. */
  authorizationServerMetadata?: AuthorizationServerMetadata;
  /** Metadata of the server, if it publishes any. */
  resourceMetadata?: OAuthProtectedResourceMetadata;
  /** Where the metadata of the server was found. */
  resourceMetadataUrl?: string;
};

/**
 * Adds the proof of the client to a request for tokens. Changes `headers` and `params`.
 *
 * @param headers Headers of the request.
 * @param params Body of the request.
 * @param url Address of the token endpoint.
 * @param metadata Metadata of the authorization server, if it publishes any.
 */
export type AddClientAuthentication = (
  headers: Headers,
  params: URLSearchParams,
  url: string | URL,
  metadata?: AuthorizationServerMetadata,
) => void | Promise<void>;

/**
 * The client and the tokens of one server, kept by the host. The `OAuthClientProvider` of the MCP SDK fits this type, and the
 * other way round.
 */
export interface OAuthClientProvider {
  /** Where a browser returns after a sign-in; undefined for a client that needs no person. */
  get redirectUrl(): string | URL | undefined;
  /** An `https:` address of the client's metadata, which is also its id for authorization servers that support that. */
  clientMetadataUrl?: string;
  /** Metadata of the client. */
  get clientMetadata(): OAuthClientMetadata;
  /** The `state` parameter of a sign-in. Default: none. */
  state?(): string | Promise<string>;
  /** The registered client; undefined if there is none yet. */
  clientInformation():
    OAuthClientInformationMixed | undefined | Promise<OAuthClientInformationMixed | undefined>;
  /**
   * Stores a client that was registered, unchanged. Absent: clients are not registered.
   *
   * @param clientInformation The client, with the authorization server that it belongs to as `issuer`.
   */
  saveClientInformation?(clientInformation: OAuthClientInformationMixed): void | Promise<void>;
  /** The stored tokens; undefined if there are none. */
  tokens(): OAuthTokens | undefined | Promise<OAuthTokens | undefined>;
  /**
   * Stores tokens, unchanged.
   *
   * @param tokens The tokens, with the authorization server that issued them as `issuer`.
   */
  saveTokens(tokens: OAuthTokens): void | Promise<void>;
  /**
   * Sends a person to sign in.
   *
   * @param authorizationUrl Where the person signs in.
   */
  redirectToAuthorization(authorizationUrl: URL): void | Promise<void>;
  /**
   * Stores the PKCE verifier of a sign-in.
   *
   * @param codeVerifier The verifier.
   */
  saveCodeVerifier(codeVerifier: string): void | Promise<void>;
  /** The PKCE verifier of the sign-in. */
  codeVerifier(): string | Promise<string>;
  /** Proves the client in its own way. Default: with the secret, if there is one. */
  addClientAuthentication?: AddClientAuthentication;
  /**
   * Selects the resource to request tokens for (RFC 8707). Default: the server, if its metadata allow that.
   *
   * @param serverUrl Address of the server.
   * @param resource The resource that the metadata of the server name.
   */
  validateResourceURL?(serverUrl: string | URL, resource?: string): Promise<URL | undefined>;
  /**
   * Deletes what an authorization server no longer accepts.
   *
   * @param scope What to delete.
   */
  invalidateCredentials?(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void | Promise<void>;
  /**
   * Parameters of the token request, for a grant of your own. Default: the authorization code grant, or client credentials.
   *
   * @param scope Scopes to request, separated by spaces.
   */
  prepareTokenRequest?(scope?: string): URLSearchParams | Promise<URLSearchParams | undefined> | undefined;
  /**
   * Stores what was discovered.
   *
   * @param state What was discovered.
   */
  saveDiscoveryState?(state: OAuthDiscoveryState): void | Promise<void>;
  /** What was discovered before; undefined if nothing is stored. */
  discoveryState?(): OAuthDiscoveryState | undefined | Promise<OAuthDiscoveryState | undefined>;
}
