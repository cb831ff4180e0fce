# ask.sh REST: a GET of the lesson's Secrets, with REST behind the path. Prints what matters of the answer.
curl -sk "https://kubernetes/api/v1/namespaces/read-list-versions/secrets$1" |
  jq -c 'if .kind == "Status" then [.code, .message] else [.metadata.resourceVersion, [.items[]?.metadata.name]] end'
