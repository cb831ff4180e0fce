# retry.sh METHOD URL [OPTIONS OF CURL]: asks again while the code says that asking again can help, at most 60 times.
method=$1 url=$2; shift 2
for try in $(seq 60); do
  code=$(curl -sk -X $method $url "$@" -o answer.json -w '%{http_code}')
  echo $code
  case $code in
  429|500|503|504) sleep 1 ;;
  *) exit ;;
  esac
done
