# Somebody else, who writes to the same object all the time.
while sleep 0.5; do
  kubectl annotate configmap hot tick=$RANDOM --overwrite > /dev/null
done
