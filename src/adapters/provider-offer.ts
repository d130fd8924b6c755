/** The offer of an adapter for an API that has a search for tools of its own. */
import { checkOffer, offerSchema, type OfferMode, type OfferOptions } from '../search/offer.js';

/** Which tools a request offers at once. */
export interface ProviderOfferOptions extends OfferOptions {
  /**
   * Who searches. `provider` marks the hidden tools as deferred (`defer_loading`) and adds the API's own search, which needs
   * a model that has it. `troupe` offers `search_tools`, `describe_tool` and `call_tool` instead. Default `provider`; with
   * LangChain `troupe`.
   */
  readonly search?: 'provider' | 'troupe';
}

const SCHEMA = offerSchema({ search: { type: 'string', enum: ['provider', 'troupe'] } });

/** Throws a `TypeError` for an offer of the wrong shape. */
export function checkProviderOffer(called: string, offer: unknown): void {
  checkOffer(called, offer, SCHEMA);
}

export function isSearchedByTroupe(offer: OfferMode | ProviderOfferOptions | undefined): boolean {
  return typeof offer === 'object' && offer.search === 'troupe';
}
