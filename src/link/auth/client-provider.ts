import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { isSecure } from './oauth-fetch.js';
import type { GivenClient } from './record.js';

export interface ProviderPorts {
  redirectUrl: string;
  state: string;
  discovery: OAuthDiscoveryState;
  given: GivenClient | undefined;
  client: StoredOAuthClientInformation | undefined;
  saveClient(client: StoredOAuthClientInformation): void;
}

/**
 * The callbacks of the SDK's `auth` while it makes the address that the user opens: it registers toolherd where that is
 * needed, and chooses scopes and resource. `Attempt` does the rest of the flow, so no token passes here.
 */
export class ClientProvider implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly #ports: ProviderPorts;
  verifier = '';
  resource: string | undefined;
  authorizationUrl: URL | undefined;

  constructor(ports: ProviderPorts) {
    this.#ports = ports;
    this.redirectUrl = ports.redirectUrl;
    if (isDocument(ports.given)) this.clientMetadataUrl = ports.given.id;
    const methods = ports.discovery.authorizationServerMetadata?.token_endpoint_auth_methods_supported;
    this.clientMetadata = {
      client_name: 'toolherd',
      redirect_uris: [ports.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // a program on a user's machine cannot keep a secret from the user; where it is allowed, it has none
      ...(methods?.includes('none') ? { token_endpoint_auth_method: 'none' } : {}),
    };
  }

  state(): string {
    return this.#ports.state;
  }

  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    const { client, given } = this.#ports;
    if (client !== undefined || given === undefined || isDocument(given)) return client;
    const { id, secret } = given;
    const own = {
      client_id: id,
      ...(secret === undefined ? {} : { client_secret: secret }),
      ...(context === undefined ? {} : { issuer: context.issuer }),
    };
    // bound to the first issuer that asked for it: no other one gets the secret
    this.saveClientInformation(own);
    return own;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#ports.client = client;
    this.#ports.saveClient(client);
  }

  get client(): StoredOAuthClientInformation | undefined {
    return this.#ports.client;
  }

  discoveryState(): OAuthDiscoveryState {
    return this.#ports.discovery;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#ports.discovery = discovery;
  }

  saveResourceUrl(resource: string): void {
    this.resource = resource;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  redirectToAuthorization(url: URL): void {
    // a browser opens any url
    if (!isSecure(url)) throw new Error(`${url.origin} does not use https`);
    this.authorizationUrl = url;
  }

  tokens(): undefined {}

  saveTokens(): void {
    throw new Error('tokens are exchanged elsewhere');
  }
}

/** A client id that is the address of a document needs no registration where the server can read it. */
function isDocument(given: GivenClient | undefined): given is GivenClient {
  return given?.id.startsWith('https://') === true;
}
