# count.sh WRITER TIMES: adds 1 to count, TIMES times, and keeps its own count beside it in the same patch.
for i in $(seq $2); do
  until n=$(kubectl get configmap race -o jsonpath='{.data.count}') && kubectl patch configmap race --type=json -p "[
    {\"op\": \"test\", \"path\": \"/data/count\", \"value\": \"$n\"},
    {\"op\": \"replace\", \"path\": \"/data/count\", \"value\": \"$((n + 1))\"},
    {\"op\": \"replace\", \"path\": \"/data/$1\", \"value\": \"$i\"}]" > /dev/null 2>&1; do :; done
done
