/** What a server said when it did not let us in. */
export interface Challenge {
  scope?: string | undefined;
  resourceMetadataUrl?: URL | undefined;
}

/** What a refusal says about the way in. Its body is not wanted. */
export async function challengeOf(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  await response.body?.cancel();
  return { scope, resourceMetadataUrl };
}
